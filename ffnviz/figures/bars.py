"""Named numbers as bars, in panels side by side, each on its own scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, Trace, axis, escaped, layout, panel_title, shortened
from ffnviz.figures.wording import signed

GAP = 0.05


@dataclass(frozen=True)
class Bars:
    """One list of named numbers.

    Attributes:
        title: said above it; may hold <br>, and so must be escaped where it is typed.
        names: not escaped.
        values: as many; a bar is as long as its value is far from zero.
        colour: as a figure names it, "@relu"; or one for each bar.
        ids: what a click on each bar says; none if it says nothing.
        marked: names to stand out.
    """

    title: str
    names: Sequence[str]
    values: NDArray[np.floating]
    colour: str | Sequence[str]
    ids: NDArray[np.integer] | None = None
    marked: frozenset[str] = frozenset()


def named_bars(panels: Sequence[Bars], unit: str) -> Figure:
    """A panel a list, from left to right; name and value stand at the end of each bar.

    Args:
        panels: from left to right.
        unit: what the numbers are, under the first panel.
    """
    width = (1 - GAP * (len(panels) - 1)) / len(panels)
    rows = max((len(panel.names) for panel in panels), default=1)
    traces: list[Trace] = []
    axes = {}
    for place, panel in enumerate(panels):
        left = place * (width + GAP)
        sizes = np.abs(panel.values)
        largest = float(sizes.max()) if len(sizes) and sizes.max() > 0 else 1.0
        axes[f"xaxis{place + 1}"] = axis(
            unit if place == 0 else "",
            domain=[left, left + width],
            range=[0, largest * 2.1],
            showticklabels=False,
            showgrid=False,
            zeroline=False,
            showline=False,
            anchor=f"y{place + 1}",
        )
        axes[f"yaxis{place + 1}"] = axis(
            "",
            range=[rows - 0.4, -0.6],
            showticklabels=False,
            showgrid=False,
            zeroline=False,
            anchor=f"x{place + 1}",
        )
        trace: Trace = {
            "type": "bar", "orientation": "h", "name": panel.title.replace("<br>", " "),
            "x": sizes, "y": np.arange(len(panel.names)),
            "xaxis": f"x{place + 1}", "yaxis": f"y{place + 1}",
            "text": [_text(name, float(value), name in panel.marked)
                     for name, value in zip(panel.names, panel.values, strict=True)],
            "textposition": "outside", "textfont": {"size": 18}, "cliponaxis": False,
            "textangle": 0, "hoverinfo": "none", "marker": {"color": _colours(panel.colour)},
        }  # fmt: skip
        if panel.ids is not None:
            trace["customdata"] = panel.ids
        traces.append(trace)
    titles = [
        panel_title(panel.title, place * (width + GAP), 1.01) for place, panel in enumerate(panels)
    ]
    return {
        "data": traces,
        "layout": layout(
            axes.pop("xaxis1"),
            axes.pop("yaxis1"),
            **axes,
            meta={"panels": len(panels)},
            annotations=titles,
            showlegend=False,
            bargap=0.3,
            margin={"l": 10, "r": 10, "t": 40, "b": 34},
        ),
    }


def _colours(colour: str | Sequence[str]) -> str | list[str]:
    return colour if isinstance(colour, str) else list(colour)


def _text(name: str, value: float, marked: bool) -> str:
    shown = f"{escaped(shortened(name, 18))} <b>{signed(value)}</b>"
    return f"<b>▸ {shown}</b>" if marked else shown
