"""The colours of both themes, as pictures/palettes.json has them for Python and the browser.

The accents are Okabe & Ito's vermillion and blue (2008), those of trained networks its reddish
purple and bluish green, darker on white and lighter on black. The signed scale runs from violet
through the background to green, a pair that stays apart for colour-blind eyes.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS hexadecimal."""

    background: str  # also what zero looks like
    surface: str  # of buttons and marked rows
    # text, muted, line: for type, lesser type, and axes
    text: str
    muted: str
    line: str
    focus: str  # the outline of what the keyboard is at
    # relu, gelu: the accent of each activation function
    relu: str
    gelu: str
    # of networks that visitors trained: one with ReLU, and one with another φ
    learned: str
    learned_other: str
    # positive, negative: far ends of the signed scale; *_mid are its halfway points
    positive: str
    positive_mid: str
    negative: str
    negative_mid: str


class Named(Protocol):
    """Anything with a name in the legend and a colour of its own, such as a network's card."""

    @property
    def label(self) -> str:
        """In legends and sentences."""

    @property
    def colour(self) -> str:
        """A name in the palette, or "#rrggbb"."""


Series = TypeVar("Series", bound=Named)

_FILE = Path(__file__).parents[1] / "pictures" / "static" / "palettes.json"
_PALETTES = json.loads(_FILE.read_text(encoding="utf-8"))
LIGHT = Palette(**_PALETTES["light"])
DARK = Palette(**_PALETTES["dark"])
