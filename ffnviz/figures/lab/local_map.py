"""The way from one token to another: which neurons switch, and how the FFN's matrix changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import (
    Figure,
    Trace,
    axis,
    bare_axis,
    escaped,
    figure,
    line_trace,
    panel_title,
    ring,
    shortened,
    vertical_line,
)
from ffnviz.figures.style import Array


def switches(
    shares: Array,
    neurons: NDArray[np.int64],
    slopes: Array,
    ends: Sequence[str],
    share: float,
    colour: str,
) -> Figure:
    """A row a neuron, as dark as its φ′, and a line at the chosen place.

    Args:
        shares: of the way, (n,).
        neurons: their numbers, (rows,); a click says one.
        slopes: φ′, (rows, n).
        ends: the two tokens as typed.
        share: the chosen place.
        colour: of φ′ = 1, as a figure names it.
    """
    return figure(
        [{
            "type": "heatmap", "name": "φ′", "x": 100 * shares, "y": np.arange(len(neurons)),
            "z": slopes, "zmin": 0, "zmax": 1, "showscale": False,
            "colorscale": [[0, "@background"], [1, colour]],
            "customdata": np.repeat(neurons[:, None], len(shares), axis=1),
            "hovertemplate": "neuron %{customdata}, %{x:.0f}% of the way: φ′ = %{z:.2f}"
                             "<extra></extra>",
        }],
        _way(ends),
        bare_axis("neurons that change J most", showticklabels=False),
        shapes=[vertical_line(100 * share, 3)], margin={"l": 40, "r": 24, "t": 10, "b": 60},
    )  # fmt: skip


def changes(
    whole: tuple[Array, Array], near: tuple[Array, Array], ends: Sequence[str], share: float,
    colour: str,
) -> Figure:  # fmt: skip
    """How far J is from the first token's, above how far the FFN is from J nearby.

    Args:
        whole: shares of the way and distances, (n,) each.
        near: shares around the place, and how far off J is there, (m,) each.
        ends: the two tokens as typed.
        share: the chosen place.
        colour: of the curves, as a figure names it.
    """
    at = float(np.interp(share, *whole))
    low, high = 100 * float(near[0][0]), 100 * float(near[0][-1])
    traces: list[Trace] = [
        _curve("‖J − J₀‖ / ‖J₀‖", whole, colour, xaxis="x", yaxis="y"),
        ring("here", [100 * share], [at], colour),
        _curve("off by, in % of the output", (near[0], 100 * near[1]), "@text", xaxis="x2",
               yaxis="y2"),
    ]  # fmt: skip
    return figure(
        traces,
        _way(ends, anchor="y"),
        axis("", domain=[0.6, 0.95], rangemode="tozero", nticks=4),
        xaxis2=axis("% of the way, close to the place", anchor="y2", range=[low, high],
                    nticks=5),
        yaxis2=axis("% of output", domain=[0, 0.3], rangemode="tozero", nticks=4,
                    anchor="x2"),
        annotations=[
            panel_title("all the way: ‖J − J₀‖ / ‖J₀‖", 0, 0.95),
            panel_title("close by: the FFN against J alone", 0, 0.3),
        ],
        shapes=[vertical_line(100 * share, 3, yref="y2 domain", xref="x2")],
        showlegend=False, margin={"l": 76, "r": 24, "t": 10, "b": 56},
    )  # fmt: skip


def _curve(name: str, points: tuple[Array, Array], colour: str, **axes: Any) -> Trace:
    hover = "%{x:.3g}% of the way: %{y:.3g}<extra></extra>"
    return line_trace(name, 100 * points[0], points[1], colour, 3, hovertemplate=hover, **axes)


def _way(ends: Sequence[str], **more: Any) -> dict[str, Any]:
    first, last = (escaped(shortened(each, 12)) for each in ends)
    return axis("", tickvals=[0, 25, 50, 75, 100], range=[-1, 101],
                ticktext=[first, "25%", "50%", "75%", last], zeroline=False, **more)  # fmt: skip
