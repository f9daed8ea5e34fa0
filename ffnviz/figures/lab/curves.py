"""Curves over layers, distances, widths and passes: lines with names, on one pair of axes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, bare_axis, figure, line_trace
from ffnviz.figures.style import Array

# name → values (n,), colour, and dash ("solid", "dot", "dash")
Lines = Mapping[str, tuple[Array, str, str]]


def lines(
    x: NDArray[np.number[Any]],
    series: Lines,
    x_axis: dict[str, Any],
    y_axis: dict[str, Any],
    **more: Any,
) -> Figure:
    """A line a series.

    Args:
        x: shared by all, (n,).
        series: what is drawn over x.
        x_axis: from `axis`.
        y_axis: likewise.
        more: as in Plotly's layout.
    """
    return figure(
        [
            line_trace(name, x, values, colour, 3, dash, dots=8,
                       hovertemplate="%{x}: %{y:.3g}<extra>%{fullData.name}</extra>")
            for name, (values, colour, dash) in series.items()
        ],
        x_axis, y_axis, **more,
    )  # fmt: skip


def grouped(
    names: Sequence[str], series: Mapping[str, tuple[Array, str]], title: str, **more: Any
) -> Figure:
    """Bars side by side: a group a name, a bar a series.

    Args:
        names: of the groups, escaped.
        series: name → values (n,) and colour.
        title: of the y axis.
        more: of the y axis, as in Plotly's layout.
    """
    return figure(
        [
            {"type": "bar", "name": name, "x": np.arange(len(names)), "y": values,
             "marker": {"color": colour},
             "hovertemplate": "%{y:.3g}<extra>%{fullData.name}</extra>"}
            for name, (values, colour) in series.items()
        ],
        bare_axis("", tickvals=list(range(len(names))), ticktext=list(names)),
        axis(title, **more),
        barmode="group",
        margin={"l": 64, "r": 12, "t": 56, "b": 66},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 13}},
    )  # fmt: skip
