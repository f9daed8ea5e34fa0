"""The Journey in a notebook: the file, in a frame of its own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from ffnviz.analysis.journey import ORDERS
from ffnviz.export.journey import chips_of, journey_file
from ffnviz.export.runs import exported_run
from ffnviz.models.encoder.model import MODELS, TWINS, Model, load
from ffnviz.models.network import network_of
from ffnviz.models.trace import Trace
from ffnviz.parts import journey
from ffnviz.parts.journey.ffn import ffn_of_the_token
from ffnviz.parts.journey.neurons import chosen_neuron, every_token_every_neuron
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run
from ffnviz.state.settings import Values
from ffnviz.state.state import Catalog

if TYPE_CHECKING:
    from ffnviz.export.view_widget import ViewWidget


class Views:
    """The page's own pictures as widgets: `view(trace)`, and `map`, `neuron` and `flow` alone.

    Each has `token`, `block` and `neuron`, which a click sets and which can be set and observed
    (`observe`), as any traitlet. They need a kernel; `ffnviz.show` stays in a saved notebook.

    Examples:
        >>> trace = ffnviz.load("relu").trace("She opened the [MASK].")
        >>> view = ffnviz.view(trace)  # the last line of a notebook's cell
        >>> view.token, view.neuron = 3, 40  # moves the pictures
        >>> ffnviz.view.neuron(trace, 1709).neuron
        1709
    """

    def __call__(self, trace: Trace) -> "ViewWidget":
        """The tokens and all pictures of the Journey.

        Args:
            trace: of any network.

        Raises:
            TypeError: for what is not a trace of one text.
            ValueError: for a trace with edits: the Journey compares with the network as it is; for
                one without its network.
            ImportError: without anywidget.
        """
        network_of(trace)
        if trace.edits:
            raise ValueError(
                "This trace was made with edits, and the Journey compares it with passes without "
                "any. Use view.map, view.neuron or view.flow, which show the trace alone."
            )
        return _widget(trace, lambda run: journey.sheet(run, Values(())), chips)

    def map(self, trace: Trace) -> "ViewWidget":
        """Every token and every neuron of a block."""
        return _widget(trace, _alone(every_token_every_neuron))

    def neuron(self, trace: Trace, neuron: int | None = None) -> "ViewWidget":
        """One neuron on every token, and the words it writes; None takes the strongest."""
        widget = _widget(trace, _alone(chosen_neuron))
        widget.neuron = neuron
        return widget

    def flow(self, trace: Trace) -> "ViewWidget":
        """The path of a token through the FFN of a block."""
        return _widget(trace, _alone(ffn_of_the_token), chips)


view = Views()


def chips(run: Run) -> Cell:
    """The tokens; a click chooses one."""
    return chips_of(run, ChooseToken)


def _alone(picture: Callable[[Run], Cell]) -> Callable[[Run], Sheet]:
    return lambda run: Sheet([row(picture(run))])


def _widget(
    trace: Trace, sheet: Callable[[Run], Sheet], *above: Callable[[Run], Cell]
) -> "ViewWidget":
    network = network_of(trace)
    try:
        from ffnviz.export.view_widget import ViewWidget
    except ModuleNotFoundError as error:
        if error.name != "anywidget":
            raise
        raise ImportError("Live pictures need anywidget: pip install 'ffnviz[notebook]'.") from None
    run = exported_run([network], trace.text, trace)
    catalog = Catalog({"journey": {"journey": ()}}, run.networks, ORDERS, trace.text)
    return ViewWidget(run, catalog, sheet, above)


HEIGHT = 960


@dataclass(frozen=True)
class Shown:
    """The Journey of a trace, as a notebook shows it.

    Examples:
        >>> shown = ffnviz.show(ffnviz.load("relu").trace("It was late."), height=700)
        >>> shown.height, shown.html.startswith("<!doctype html>")
        (700, True)
    """

    html: str = field(repr=False)  # a page that needs no server, and may be written to a file
    height: int = HEIGHT  # of its frame, in pixels

    def _repr_html_(self) -> str:
        """A frame whose script can reach nothing of the notebook around it."""
        return (
            f'<iframe title="ffnviz" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self.height}px; border: 0" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def show(trace: Trace, height: int = HEIGHT) -> Shown:
    """The Journey of a trace, to be the last line of a notebook's cell.

    All its tokens and blocks are in it; for a trace of one of the twins, the other twin as well.
    Nothing is asked of a server, so it works in a notebook that is only read.

    Args:
        trace: of any network; of a text too long for 3 MB its beginning is shown.
        height: of the frame, in pixels.

    Raises:
        TypeError: for what is not a trace of one text.
        ValueError: for a trace with edits: the Journey compares with the network as it is; for one
            that was saved or pickled.
        TooLargeError: if not even one token of so large a network fits.

    Examples:
        >>> shown = ffnviz.show(ffnviz.load("relu").trace("It was late."))
        >>> Path("it.html").write_text(shown.html, encoding="utf-8") < 3_000_000
        True
    """
    network = network_of(trace)
    if trace.edits:
        raise ValueError(
            "This trace was made with edits, and the Journey compares it with passes without any. "
            "Show a trace of the same text without edits."
        )
    networks, name = [network], network.card.id
    if name in TWINS and isinstance(network, Model) and network.folder == MODELS / name:
        networks += [load(other, network.device) for other in TWINS if other != name]
    return Shown(journey_file(exported_run(networks, trace.text, trace)).html, height)
