"""Small networks in training: curves over the steps, the chosen moment marked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, figure, line_trace, vertical_line


@dataclass(frozen=True)
class Curve:
    """One line."""

    name: str  # in the legend, escaped
    values: NDArray[np.floating]  # at each moment, (n,)
    colour: str  # as a figure names it, "@relu"
    dash: str = "solid"  # "solid", "dot" or "dash"


def curves(
    steps: NDArray[np.integer],
    shown: Sequence[Curve],
    reach: tuple[int, float],
    chosen: int,
    title: str,
    base: tuple[str, float] | None = None,
) -> Figure:
    """Lines over the steps; the axes have their whole reach from the first moment on.

    Args:
        steps: of each moment, (n,).
        shown: the lines.
        reach: the largest step, and the largest value.
        chosen: the step to mark.
        title: of the y axis.
        base: name and height of a level line.
    """
    hover = "%{y:.3g} after %{x} steps<extra>%{fullData.name}</extra>"
    traces = [
        line_trace(curve.name, steps, curve.values, curve.colour, 3, curve.dash,
                   dots=0 if len(steps) > 1 else 12, cliponaxis=False, hovertemplate=hover)
        for curve in shown
    ]  # fmt: skip
    if base is not None:
        name, height = base
        ends = np.array([0, reach[0]])
        hover = "%{y:.3g}<extra>%{fullData.name}</extra>"
        traces.append(
            line_trace(name, ends, np.full(2, height), "@muted", 2, "dash", hovertemplate=hover)
        )
    return figure(
        traces,
        axis("steps", range=[0, reach[0]], nticks=6),
        axis(title, range=[0, reach[1]], nticks=5),
        shapes=[vertical_line(chosen, 1.5)],
    )
