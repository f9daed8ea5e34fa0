"""The Journey of a sentence as one HTML file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version

from ffnviz.analysis.measuring import Progress
from ffnviz.export.bundle import texts
from ffnviz.export.document import LARGEST, Contents, TooLargeError, document
from ffnviz.export.journey import NOTES, PICTURES, journey_of
from ffnviz.export.runs import exported_run
from ffnviz.state.run import Run

CLICKS = "Click a token, a neuron, a network or a block."
LEAST_BYTES = 350_000  # script, font and notes
LEAST_LEFT = 0.6  # of the vectors' bytes, once packed and encoded; of the twins' it is 0.79


@dataclass(frozen=True)
class ExportedJourney:
    """The Journey as a file."""

    html: str = field(repr=False)  # its text
    n_tokens: int  # how many tokens are in it
    n_left_out: int  # how many more the sentence has, which had no room
    notice: str  # that the sentence was cut; empty if it was not


def _notice(n_tokens: int, n_left_out: int, largest: int) -> str:
    if not n_left_out:
        return ""
    return (
        f"The text has {n_tokens + n_left_out:,} tokens, and a file of {largest / 1e6:g} MB has "
        f"room for {n_tokens:,}. The network read these alone; the last {n_left_out:,} are left "
        "out. Shorten the text to choose what is in the file."
    )


def journey_file(
    run: Run, progress: Progress = lambda _: None, largest: int = LARGEST
) -> ExportedJourney:
    """The Journey of a run's sentence; of a sentence too long for a file, its beginning.

    `largest` are the bytes that the file may have.

    Raises:
        TooLargeError: if not even one token fits.
    """
    whole, n_all = run, len(run.trace.tokens) + run.trace.n_left_out
    most = _most(run, largest)
    if most < len(run.trace.tokens):
        run = _beginning(whole, most)
    tried: list[tuple[int, int]] = []  # tokens and bytes
    while True:
        n = len(run.trace.tokens)
        notice = _notice(n, n_all - n, largest)
        html = _html(run, notice, progress)
        size = len(html.encode())
        if size <= largest:
            return ExportedJourney(html, n, n_all - n, notice)
        tried.append((n, size))
        fits = _fitting(tried, largest)
        if fits < 1 or not run.trace.tokens[fits - 1].end:  # the first may be a mere space
            raise TooLargeError(
                f"One token of this network takes more room than a file of {largest / 1e6:g} MB "
                "has: it has too many blocks, or too many neurons. Take a smaller network."
            )
        run = _beginning(whole, fits)


def _most(run: Run, largest: int) -> int:
    """A number of tokens of which more never fit, so that none of thousands is computed in vain."""
    token_bytes = sum(
        traced.network.sizes.n_blocks
        * (6 * traced.network.sizes.d_ff + 8 * traced.network.sizes.d_model)
        for traced in run.both
    )
    return max(1, int((largest - LEAST_BYTES) / (token_bytes * LEAST_LEFT)))


def _fitting(tried: Sequence[tuple[int, int]], largest: int) -> int:
    """How many tokens should fit, if each takes as many bytes."""
    n, size = tried[-1]
    if len(tried) == 1:
        return min(n - 1, n * largest // size)
    before, larger = tried[-2]
    token_bytes = (larger - size) / (before - n)
    return min(n - 1, int(n - (size - largest) / token_bytes))


def _beginning(run: Run, n_tokens: int) -> Run:
    """The run of the first tokens alone."""
    networks = [traced.network for traced in (run.subject, run.partner) if traced is not None]
    return exported_run(networks, run.trace.text[: run.trace.tokens[n_tokens - 1].end])


def _html(run: Run, notice: str, progress: Progress) -> str:
    journey = journey_of(run, progress)
    sentence = run.trace.text[: run.trace.tokens[-1].end]
    header = {
        **journey.header,
        "plays": "journey",
        "files": texts(PICTURES, NOTES),
        "sentence": sentence,
        "says": list(filter(None, [notice, made_by([traced.card.label for traced in run.both])])),
    }
    title = f"{sentence} · ffnviz"
    return document(Contents(title, ("play_journey", *PICTURES), header, journey.arrays))


def made_by(labels: Sequence[str], how: str = CLICKS) -> str:
    """Which networks computed a file, when, and what can be done with it."""
    today = date.today()
    networks = " and ".join(labels) + (" networks" if len(labels) > 1 else " network")
    return (
        f"Computed by the {networks} on {today.day} {today:%B %Y}, and saved by ffnviz "
        f"{version('ffnviz')}. {how} This file works without a server and sends nothing; another "
        "sentence needs ffnviz itself."
    )
