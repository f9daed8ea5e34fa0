"""Small networks in training: curves over the steps, the chosen moment marked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, layout


@dataclass(frozen=True)
class Curve:
    """One line.

    Attributes:
        name: in the legend, escaped.
        values: at each moment, (n,).
        colour: as a figure names it, "@relu".
        dash: "solid", "dot" or "dash".
    """

    name: str
    values: NDArray[np.floating]
    colour: str
    dash: str = "solid"


def curves(
    steps: NDArray[np.integer],
    drawn: Sequence[Curve],
    reach: tuple[int, float],
    chosen: int,
    title: str,
    base: tuple[str, float] | None = None,
) -> Figure:
    """Lines over the steps; the axes have their whole reach from the first moment on.

    Args:
        steps: of each moment, (n,).
        drawn: the lines.
        reach: the largest step, and the largest value.
        chosen: the step to mark.
        title: of the y axis.
        base: name and height of a level line.
    """
    traces = [
        {"type": "scatter", "mode": "lines" if len(steps) > 1 else "lines+markers",
         "name": curve.name, "x": steps, "y": curve.values,
         "line": {"color": curve.colour, "width": 3, "dash": curve.dash},
         "marker": {"size": 12, "color": curve.colour}, "cliponaxis": False,
         "hovertemplate": "%{y:.3g} after %{x} steps<extra>%{fullData.name}</extra>"}
        for curve in drawn
    ]  # fmt: skip
    if base is not None:
        name, height = base
        traces.append({
            "type": "scatter", "mode": "lines", "name": name,
            "x": np.array([0, reach[0]]), "y": np.array([height, height]),
            "line": {"color": "@muted", "width": 2, "dash": "dash"},
            "hovertemplate": "%{y:.3g}<extra>%{fullData.name}</extra>",
        })  # fmt: skip
    mark = {"type": "line", "x0": chosen, "x1": chosen, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": "@text", "width": 1.5, "dash": "dot"}}  # fmt: skip
    return {
        "data": traces,
        "layout": layout(
            axis("steps", range=[0, reach[0]], nticks=6),
            axis(title, range=[0, reach[1]], nticks=5),
            shapes=[mark],
        ),
    }
