"""Named numbers as bars, in panels side by side, each on its own scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, Trace, escaped, shortened
from ffnviz.figures.panels import bar_panels
from ffnviz.figures.style import Array
from ffnviz.figures.wording import signed


@dataclass(frozen=True)
class Bars:
    """One list of named numbers."""

    title: str  # said above it; may hold <br>, and so must be escaped where it is typed
    names: Sequence[str]  # not escaped
    values: Array  # as many; bars of negative values go left from zero
    colour: str | Sequence[str]  # as a figure names it, "@relu"; or one for each bar
    ids: NDArray[np.integer] | None = None  # what a click on each bar says; none if it says nothing
    marked: frozenset[str] = frozenset()  # names to stand out


def named_bars(panels: Sequence[Bars], unit: str) -> Figure:
    """A panel a list, from left to right; name and value stand at the end of each bar.

    Args:
        panels: from left to right.
        unit: what the numbers are, under the first panel.
    """
    bars: list[Trace] = []
    reach = []
    for panel in panels:
        most, least = (float(end(panel.values, initial=0.0)) for end in (np.max, np.min))
        width = 1.1 * max(most, -least) or 1.0  # for the text at a bar's end
        reach.append((least - width if least < 0 else 0.0, most + width))
        trace: Trace = {
            "x": panel.values, "y": np.arange(len(panel.names)),
            "text": [_text(name, float(value), name in panel.marked)
                     for name, value in zip(panel.names, panel.values, strict=True)],
            "meta": {"names": list(panel.names), "named": "name", "values": panel.values},
            "textfont": {"size": 18}, "marker": {"color": _colours(panel.colour)},
        }  # fmt: skip
        if panel.ids is not None:
            trace["customdata"] = panel.ids
        bars.append(trace)
    titles = [panel.title for panel in panels]
    return bar_panels(bars, titles, reach, unit, 0.3, {"l": 10, "r": 10, "t": 40, "b": 34})


def _colours(colour: str | Sequence[str]) -> str | list[str]:
    return colour if isinstance(colour, str) else list(colour)


def _text(name: str, value: float, marked: bool) -> str:
    shown = f"{escaped(shortened(name, 18))} <b>{signed(value)}</b>"
    return f"<b>▸ {shown}</b>" if marked else shown
