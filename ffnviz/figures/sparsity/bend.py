"""φ and its derivative over a histogram of where the pre-activations land."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, figure, line_trace


def bend(
    twin: str,
    label: str,
    curve: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]],
    edges: NDArray[np.float64],
    shares: NDArray[np.float64],
    kept: NDArray[np.bool_],
    token: tuple[str, NDArray[np.float64]],
) -> Figure:
    """One activation function and what it meets.

    Args:
        twin: its accent.
        label: how φ is called.
        curve: x, φ(x) and φ'(x).
        edges: of the bins, (n + 1,).
        shares: of the sentence's values in each bin, (n,).
        kept: which bins φ leaves further from zero than the threshold, (n,).
        token: the chosen token's label, already escaped, and its shares, (n,).
    """
    x, value, slope = curve
    middles = (edges[1:] + edges[:-1]) / 2
    reach = [float(edges[0]), float(edges[-1])]
    # Filled steps, not bars: one path each instead of one a bin, which is drawn much quicker.
    histogram = [
        {"type": "scatter", "mode": "lines", "name": name, "x": middles,
         "y": np.where(selected, 100 * shares, 0), "yaxis": "y2", "fill": "tozeroy",
         "fillcolor": colour, "line": {"shape": "hvh", "width": 0, "color": colour},
         "showlegend": False}
        for name, selected, colour in (("left near zero by φ", ~kept, "@muted/0.45"),
                                       ("kept by φ", kept, f"@{twin}"))
    ]  # fmt: skip
    return figure(
        [
            line_trace(f"φ = {label}", x, value, f"@{twin}", 4),
            line_trace("slope φ′", x, slope, "@muted", 2.5, "dash"),
            *histogram,
            {"type": "scatter", "mode": "lines", "name": f"{token[0]} alone", "x": middles,
             "y": 100 * token[1], "yaxis": "y2",
             "line": {"color": "@text", "width": 2, "shape": "hvh"}},
        ],
        axis("pre-activation x W₁ + b₁", range=reach, anchor="y2"),
        axis("φ(x)", domain=[0.46, 1], range=[-1.1, 3.2]),
        yaxis2=axis("% of values", domain=[0, 0.36], rangemode="tozero"),
    )  # fmt: skip
