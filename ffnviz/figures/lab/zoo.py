"""Every activation: its curve, its slope, and a gate as a surface."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, Trace, axis, figure, line_trace
from ffnviz.figures.style import Array

Curve = tuple[str, Array, Array, str, str]


def curves(x: Array, shown: Sequence[Curve], minimum: tuple[float, float]) -> Figure:
    """φ above, φ′ below.

    Args:
        x: (n,).
        shown: label, φ(x), φ′(x), colour and dash of each.
        minimum: where GELU is least, and its value.
    """
    traces: list[Trace] = []
    for label, value, slope, colour, dash in shown:
        traces += [
            line_trace(label, x, value, colour, 3, dash, legendgroup=label),
            line_trace(f"{label}, slope", x, slope, colour, 3, dash, yaxis="y2",
                       legendgroup=label, showlegend=False),
        ]  # fmt: skip
    at, least = minimum
    return figure(
        traces,
        axis("x", anchor="y2", range=[-4, 4]),
        axis("φ(x)", domain=[0.46, 1], range=[-1.1, 3.2]),
        yaxis2=axis("slope φ′(x)", domain=[0, 0.38], range=[-0.25, 1.25]),
        annotations=[{
            "x": at, "y": least, "xref": "x", "yref": "y", "ax": -60, "ay": -70,
            "text": f"GELU's minimum<br>{least:.4f} at {at:.4f}".replace("-", "−"),
            "showarrow": True, "arrowcolor": "@text", "font": {"size": 16},
        }],
        margin={"l": 70, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip


def surface(side: Array, values: Array, label: str, points: tuple[Array, Array]) -> Figure:
    """A gate's φ(g)·v over g and v, on the signed scale.

    Args:
        side: the values of g and of v, (n,).
        values: φ(g)·v, a row a v, (n, n).
        label: of the gated φ.
        points: g and v of the units of one token, (d_ff,) each; what lies outside is not drawn.
    """
    largest = float(np.abs(values).max())
    reach = [float(side[0]), float(side[-1])]
    return figure(
        [
            {"type": "heatmap", "name": label, "x": side, "y": side, "z": values,
             "zmin": -largest, "zmax": largest,
             "colorscale": [[0, "@negative"], [0.25, "@negative_mid"], [0.5, "@background"],
                            [0.75, "@positive_mid"], [1, "@positive"]],
             "colorbar": {"title": {"text": "φ(g)·v", "side": "top"}, "thickness": 14},
             "hovertemplate": "g = %{x:.1f}, v = %{y:.1f}: %{z:.2f}<extra></extra>"},
            {"type": "scatter", "mode": "markers", "name": "its units", "x": points[0],
             "y": points[1], "marker": {"color": "@text/0.55", "size": 3.5}, "hoverinfo": "skip"},
        ],
        axis("gate g", range=reach), axis("value v", range=reach),
        margin={"l": 64, "r": 10, "t": 16, "b": 56}, showlegend=False,
    )  # fmt: skip
