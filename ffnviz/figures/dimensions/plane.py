"""A sentence's tokens as points in a plane, one panel a stage."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, escaped, figure, panel_title, shortened
from ffnviz.figures.style import Array
from ffnviz.figures.wording import percent

GAP = 0.06
NAMED = 60


def planes(
    panels: Sequence[tuple[str, Array, Array]], labels: Sequence[str], token: int, twin: str
) -> Figure:
    """Panels side by side, each with its own axes, the chosen token in the accent.

    Args:
        panels: a title, the points (T, 2), and the share of variance along each axis, (2,).
        labels: the tokens as typed.
        token: the chosen one.
        twin: the accent.
    """
    width = (1 - GAP * (len(panels) - 1)) / len(panels)
    names = [escaped(shortened(label)) for label in labels]
    sizes = np.full(len(labels), 9)
    sizes[token] = 17
    colours = ["@muted"] * len(labels)
    colours[token] = f"@{twin}"
    traces, axes, titles = [], {}, []
    for place, (title, points, explained) in enumerate(panels):
        left = place * (width + GAP)
        number = place + 1
        reach = 1.25 * max(float(np.abs(points).max()), 1e-9)
        traces.append({
            "type": "scatter", "mode": "markers+text" if len(labels) <= NAMED else "markers",
            "name": title, "x": points[:, 0], "y": points[:, 1], "text": names,
            "textposition": "top center", "textfont": {"size": 16},
            "xaxis": f"x{number}", "yaxis": f"y{number}", "customdata": np.arange(len(labels)),
            "marker": {"size": sizes, "color": colours},
            "hovertemplate": "%{text}<extra></extra>",
        })  # fmt: skip
        bare = {"range": [-reach, reach], "showticklabels": False}
        axes[f"xaxis{number}"] = axis(f"axis 1: {_share(explained[0])}", anchor=f"y{number}",
                                      domain=[left, left + width], **bare)  # fmt: skip
        axes[f"yaxis{number}"] = axis(f"axis 2: {_share(explained[1])}", anchor=f"x{number}",
                                      **bare)  # fmt: skip
        axes[f"yaxis{number}"]["title"]["standoff"] = 4
        titles.append(panel_title(title, left))
    return figure(
        traces,
        axes.pop("xaxis1"), axes.pop("yaxis1"), **axes, annotations=titles, showlegend=False,
        meta={"panels": len(panels)},
        margin={"l": 34, "r": 10, "t": 40, "b": 50},
    )  # fmt: skip


def _share(share: float) -> str:
    return f"{escaped(percent(float(share)))} of the variance"
