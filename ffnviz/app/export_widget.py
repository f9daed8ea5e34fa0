"""“Take home” on the Journey: a file that is made beside the pages and saved by the browser."""

from collections.abc import Sequence

from ffnviz.analysis.measuring import Progress
from ffnviz.app import measuring
from ffnviz.app.visit import visit
from ffnviz.export.document import TooLargeError
from ffnviz.export.journey import ExportedJourney, journey_file
from ffnviz.parts.sheet import Button, Measured, Measurement, Row, Soon, row
from ffnviz.pictures.text import saving_cell, text_cell
from ffnviz.state.run import Run

NAME = "take-home"
FILE = "ffnviz-journey.html"


def ask(run: Run) -> None:
    """Offer the file of what is shown now."""
    visit().take_home = _setup(run)
    measuring.forget(NAME)


def offer(run: Run) -> Measurement[ExportedJourney | str] | None:
    """The file, if it was asked for and the sentence is still the same."""
    wanted = visit().take_home
    if wanted is None or wanted[:3] != _setup(run)[:3]:
        return None
    soon = row(Soon("", "A file of this page, which opens without a server", 90))
    return Measurement(
        NAME, wanted, make, offered, before=[soon], label="Make it again", doing="Making the file …"
    )


def make(run: Run, progress: Progress) -> ExportedJourney | str:
    """The file, or a sentence that says why there is none."""
    try:
        return journey_file(run, progress)
    except TooLargeError as error:
        return str(error)


def offered(measured: Measured[ExportedJourney | str]) -> Sequence[Row]:
    """The button that saves it, and what is in it."""
    file = measured.result
    if isinstance(file, str):
        return [row(text_cell("take-home-save", file, tone="warning"))]
    content = file.html.encode()
    save = saving_cell(
        f"Save the file ({len(content) / 1e6:.1f} MB)",
        content,
        FILE,
        "text/html",
        key="take-home-save",
    )
    says = "It holds all tokens, blocks and networks of this sentence, and opens without a server."
    notice = [text_cell("take-home-notice", file.notice, tone="warning")] if file.notice else []
    return [row([save, *notice, text_cell("take-home-says", says)])]


def _setup(run: Run) -> tuple[object, ...]:
    """What the file depends on: first what changes all of it, then what it opens with."""
    networks = tuple(traced.card.id for traced in run.both)
    state = run.state
    opens_with = state.network, state.block, run.token, state.neuron, state.order
    return (networks, run.device, state.sentence, *opens_with)


def _close() -> None:
    visit().take_home = None


CLOSE = Button("Close", _close)  # withdraws the offer
