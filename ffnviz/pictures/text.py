"""Words on a sheet: paragraphs, each plain, quiet, or to be noticed."""

from collections.abc import Sequence
from typing import Literal

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Part, to_spans

Tone = Literal["plain", "quiet", "info", "warning"]


def text_cell(key: str, *paragraphs: str | Sequence[Part], tone: Tone = "plain") -> Cell:
    """Paragraphs, one below the other.

    Args:
        key: unique on the sheet.
        paragraphs: each a text of ours, code in it between backticks, or a sentence with numbers to
            stand out; what a person typed is marked as typed, and is always shown as text.
        tone: how loud they are; "warning" is read out at once.
    """
    spans = [to_spans(marked(text) if isinstance(text, str) else text) for text in paragraphs]
    return Cell("text", key, {"paragraphs": spans, "tone": tone})


def marked(text: str) -> list[Part]:
    """A sentence of ours, with the text between backticks as code."""
    return [(part, "code") if at % 2 else part for at, part in enumerate(text.split("`"))]
