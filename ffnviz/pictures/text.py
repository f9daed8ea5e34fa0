"""Words on a sheet: paragraphs, each plain, quiet, or to be noticed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Part, to_spans

Tone = Literal["plain", "quiet", "info", "warning"]


@dataclass(frozen=True)
class StepProgress:
    """The progress of a measurement in words, which the browser updates while it runs."""

    name: str  # the measurement's
    beginning: str  # said until something is done
    steps: tuple[tuple[str, int], ...]  # what is counted, each kind with how many there are


def text_cell(
    key: str,
    *paragraphs: str | Sequence[Part],
    tone: Tone = "plain",
    progress: StepProgress | None = None,
) -> Cell:
    """Paragraphs, one below the other.

    Args:
        key: unique on the sheet.
        paragraphs: each a text of ours, code in it between backticks, or a sentence with numbers to
            stand out; what a person typed is marked as typed, and is always shown as text.
        tone: how loud they are; "warning" is read out at once.
        progress: of the measurement whose result will stand here.
    """
    spans = [to_spans(marked(text) if isinstance(text, str) else text) for text in paragraphs]
    data = {"paragraphs": spans, "tone": tone}
    return Cell("text", key, data if progress is None else data | {"progress": asdict(progress)})


def marked(text: str) -> list[Part]:
    """A sentence of ours, with the text between backticks as code."""
    return [(part, "code") if at % 2 else part for at, part in enumerate(text.split("`"))]
