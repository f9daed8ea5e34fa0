"""Small bar charts for paper, as SVG inside a page: no script, nothing to load."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ffnviz.figures.layout import shortened
from ffnviz.figures.style import LIGHT, Array
from ffnviz.figures.wording import percent

WIDTH, NAMES, VALUES = 300, 84, 46  # of a picture, of its names, of its numbers
ROW, GAP = 17, 3


@dataclass(frozen=True)
class Bars:
    """Named shares."""

    title: str  # said above them
    names: Sequence[str]  # as typed; they stay text
    shares: Array  # as many, from 0 to 1
    colour: str  # as CSS has it


def picture(bars: Bars) -> str:
    """The chart as a figure; the longest bar fills its width."""
    largest = max(float(bars.shares.max(initial=0)), 1e-9)
    room = WIDTH - NAMES - VALUES
    rows = [
        _row(place * ROW, name, float(share), room * float(share) / largest, bars.colour)
        for place, (name, share) in enumerate(zip(bars.names, bars.shares, strict=True))
    ]
    title = escape(bars.title)
    return (
        f'<figure><figcaption>{title}</figcaption><svg viewBox="0 0 {WIDTH} {ROW * len(rows)}" '
        f'role="img" aria-label="{title}">{"".join(rows)}</svg></figure>'
    )


def _row(top: float, name: str, share: float, length: float, colour: str) -> str:
    line, text = top + ROW - 5, f'font-size="12.5" fill="{LIGHT.text}"'
    return (
        f'<text x="{NAMES - 6}" y="{line}" text-anchor="end" {text}>'
        f"{escape(shortened(name, 12))}</text>"
        f'<rect x="{NAMES}" y="{top + GAP / 2}" width="{max(1.0, length):.1f}" '
        f'height="{ROW - GAP}" fill="{colour}"/>'
        f'<text x="{NAMES + max(1.0, length) + 5:.1f}" y="{line}" {text}>'
        f"{escape(percent(share))}</text>"
    )
