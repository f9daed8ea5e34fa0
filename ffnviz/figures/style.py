"""How everything looks: the colours of both themes. The one style file.

The accents are Okabe & Ito's vermillion and blue (2008). The signed scale runs from violet through
the background to green, a pair that stays apart for colour-blind eyes.
"""

from dataclasses import asdict, dataclass
from typing import Protocol, TypeVar


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS hexadecimal.

    Attributes:
        background: also what zero looks like.
        text, muted, line: for type, lesser type, and axes.
        relu, gelu: the accent of each activation function.
        positive, negative: far ends of the signed scale; *_mid are its halfway points.
    """

    background: str
    text: str
    muted: str
    line: str
    relu: str
    gelu: str
    positive: str
    positive_mid: str
    negative: str
    negative_mid: str


class Named(Protocol):
    """Whose curves and bars they are: what a legend calls it, and its colour."""

    @property
    def label(self) -> str:
        """In legends and sentences."""

    @property
    def colour(self) -> str:
        """A name in the palette, or "#rrggbb"."""


Series = TypeVar("Series", bound=Named)  # a network's card, for instance


LIGHT = Palette(
    background="#ffffff",
    text="#1a1c23",
    muted="#555a66",
    line="#d5d8df",
    relu="#b84f00",
    gelu="#0067a3",
    positive="#00421f",
    positive_mid="#2fa35f",
    negative="#3d0a4f",
    negative_mid="#9a62b5",
)
DARK = Palette(
    background="#0e1117",
    text="#f2f4f8",
    muted="#a9b0bd",
    line="#343a46",
    relu="#ff9d4d",
    gelu="#62bdf5",
    positive="#d9ffe3",
    positive_mid="#35b36c",
    negative="#f3d9ff",
    negative_mid="#9c5fc0",
)


def palettes() -> dict[str, dict[str, str]]:
    """Both themes as plain values, for components, which see the theme only in the browser."""
    return {"light": asdict(LIGHT), "dark": asdict(DARK)}
