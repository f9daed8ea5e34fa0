"""The head of a picture: its sentence, and "What am I looking at?"."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Part = str | tuple[str, str]  # text, and "typed", "number", or "number@" and a name in the palette


@dataclass(frozen=True)
class Head:
    """The head of one picture; drawn by head.js inside the picture's component."""

    # plain text, numbers to stand out, and what a person typed (always shown as text)
    sentence: Sequence[Part]
    note: str  # opens notes/<note>.html, which is ours, not typed
    accent: str  # which of the palette's colours the numbers have
    besides: str = ""  # added to the sentence of a saved picture; the page shows it elsewhere
    # a quiet line below the picture, written as the sentence is; none if empty
    under: Sequence[Part] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "spans": to_spans(self.sentence),
            "note": self.note,
            "accent": self.accent,
            "besides": self.besides,
            "under": to_spans(self.under),
        }


def to_spans(sentence: Sequence[Part]) -> list[list[str]]:
    """A sentence as JSON values: each stretch of text and its kind."""
    return [[part, "plain"] if isinstance(part, str) else list(part) for part in sentence]
