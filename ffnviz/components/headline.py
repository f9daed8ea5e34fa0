"""The one sentence above a picture, with its live numbers standing out."""

from collections.abc import Sequence
from typing import Literal

from ffnviz.components.declare import declare

_mount = declare("headline")

Part = str | tuple[str, Literal["number", "typed"]]


def headline(
    parts: Sequence[Part], palettes: dict[str, dict[str, str]], accent: str, key: str
) -> None:
    """Show a sentence.

    Args:
        parts: plain text, numbers to stand out, and what a person typed (always shown as text).
        palettes: the themes' colours.
        accent: which of their colours the numbers have.
        key: unique on the page.
    """
    spans = [[part, "plain"] if isinstance(part, str) else list(part) for part in parts]
    _mount(data={"spans": spans, "palettes": palettes, "accent": accent}, key=key)
