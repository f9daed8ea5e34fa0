"""Two sentences side by side: where their neurons differ."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import (
    Figure,
    axis,
    bare_axis,
    escaped,
    figure,
    row_axis,
    shortened,
    signed_colours,
)
from ffnviz.figures.style import Array


def differences(
    pairs: Sequence[str], neurons: NDArray[np.integer], difference: Array, pair: int
) -> Figure:
    """A row a pair of tokens, a column a neuron; a click chooses the neuron.

    Args:
        pairs: how each pair reads, not escaped.
        neurons: their numbers, (k,).
        difference: second sentence minus first, (n_pairs, k).
        pair: the row to mark.
    """
    largest = max(float(np.abs(difference).max(initial=0)), 1e-6)
    y = np.arange(len(pairs))
    return figure(
        [{
            "type": "heatmap", "name": "difference", "z": difference, "y": y,
            "x": np.arange(len(neurons)), "zmin": -largest, "zmax": largest, "xgap": 1, "ygap": 1,
            "meta": {"named": "tokens"},
            "customdata": np.tile(neurons, (len(pairs), 1)),
            **signed_colours("second − first"),
            "hovertemplate": "neuron %{customdata}: %{z:+.2f}<extra></extra>",
        }],
        bare_axis("neuron, the most different first", tickvals=np.arange(len(neurons)),
                  ticktext=[str(n) for n in neurons], tickangle=-60),
        bare_axis("", tickvals=y, ticktext=[escaped(shortened(text, 16)) for text in pairs],
                  range=[len(pairs) - 0.5, -0.5]),
        shapes=[{"type": "rect", "x0": -0.5, "x1": len(neurons) - 0.5, "y0": pair - 0.5,
                 "y1": pair + 0.5, "line": {"color": "@text", "width": 2}}],
        margin={"l": 150, "r": 10, "t": 64, "b": 90},
    )  # fmt: skip


def both_values(
    names: tuple[str, str], neurons: NDArray[np.integer], first: Array, second: Array, twin: str
) -> Figure:
    """One pair of tokens: each neuron's value in the first sentence and in the second.

    Args:
        names: how the two tokens read, not escaped.
        neurons: their numbers, (k,).
        first: values in the first sentence, (k,).
        second: in the second, (k,).
        twin: the accent.
    """
    y = np.arange(len(neurons))
    return figure(
        [
            {"type": "bar", "orientation": "h", "name": escaped(name), "x": hidden, "y": y,
             "customdata": neurons, "marker": {"color": colour},
             "hovertemplate": "neuron %{customdata}: %{x:.2f}<extra></extra>"}
            for name, hidden, colour in zip(names, (first, second), ("@muted", f"@{twin}"),
                                            strict=True)
        ],
        axis("activation φ(x·key + b)"),
        row_axis(len(neurons), "neuron", tickvals=y, ticktext=[str(n) for n in neurons]),
        barmode="group",
        margin={"l": 84, "r": 16, "t": 40, "b": 56},
    )  # fmt: skip
