"""The Journey in a notebook: the file, in a frame of its own."""

from dataclasses import dataclass, field
from html import escape

from ffnviz.export.journey_file import journey_file
from ffnviz.export.runs import exported_run, network_of
from ffnviz.models.encoder.model import MODELS, TWINS, Model, load
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace

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
        TypeError: for what is no trace of one text.
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
    run = exported_run([network, *_other_twin(network)], trace.text, trace)
    return Shown(journey_file(run).html, height)


def _other_twin(network: Network) -> list[Model]:
    if not isinstance(network, Model) or network.folder is None:
        return []
    if network.folder.parent != MODELS or network.name not in TWINS:
        return []
    return [load(name, network.device) for name in TWINS if name != network.name]
