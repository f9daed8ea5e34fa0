"""Expand and compress as a diagram: boxes as high as their vectors are wide."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ffnviz.figures.layout import Figure, Trace, shortened

GAP = 2.0
SHOWN = 8


def flow(n_tokens: int, d_model: int, d_ff: int, label: str, twin: str) -> Figure:
    """(T, d_model) → (T, d_ff) → φ → (T, d_ff) → (T, d_model), heights true to scale.

    Args:
        n_tokens: T.
        d_model: width of input and output.
        d_ff: width of the hidden layer.
        label: how φ is called.
        twin: its accent.
    """
    heights = [d_model, d_ff, d_ff, d_model]
    names = ["x", "x W₁ + b₁", f"{label}(x W₁ + b₁)", "output"]
    # Narrow enough to stand between the boxes of a telephone.
    steps = [f"W₁<br>({d_model:,},<br>{d_ff:,})", "φ<br>one<br>by one",
             f"W₂<br>({d_ff:,},<br>{d_model:,})"]  # fmt: skip
    places = np.arange(4) * GAP
    shapes = []
    for place, (left, right) in enumerate(pairwise(heights)):
        x0, x1 = places[place] + 0.35, places[place + 1] - 0.35
        shapes.append(_polygon([(x0, left / 2), (x1, right / 2), (x1, -right / 2),
                                (x0, -left / 2)], f"@{twin}/0.16"))  # fmt: skip
    for place, height in zip(places, heights, strict=True):
        shapes.append(_box(place - 0.35, place + 0.35, -height / 2, height / 2, f"@{twin}/0.75"))
    tallest = max(heights)
    return {
        "data": [
            _words("shape", places, np.array(heights) / 2 + 0.05 * tallest,
                   [f"<b>({n_tokens:,}, {height:,})</b>" for height in heights],
                   textfont={"size": 22}),
            _words("value", places, -np.array(heights) / 2 - 0.05 * tallest, names,
                   textfont={"size": 17}),
            _words("step", places[:-1] + GAP / 2, np.zeros(3), steps, textfont={"size": 18}),
        ],
        "layout": _bare(shapes, [-0.75, 3 * GAP + 0.75], [-0.62 * tallest, 0.62 * tallest]),
    }  # fmt: skip


def shared_weights(labels: Sequence[str], d_model: int, d_ff: int, n: int, twin: str) -> Figure:
    """Each token on its own line through one and the same set of weights.

    Args:
        labels: the tokens as typed, already escaped; of many, the first are shown.
        d_model: width of input and output.
        d_ff: width of the hidden layer.
        n: parameters of the weights.
        twin: the accent.
    """
    shown = [shortened(label) for label in labels[:SHOWN]]
    rows = np.arange(len(shown), dtype=float)
    bottom = len(shown) - 0.4
    shapes = [_box(1.6, 4.4, -0.6, bottom, f"@{twin}/0.22")]
    for row in rows:
        for x0, x1 in ((0.35, 1.05), (1.9, 4.1), (4.95, 5.65)):  # input, hidden, output
            shapes.append(_box(x0, x1, row - 0.2, row + 0.2, f"@{twin}/0.75"))
    left = len(labels) - SHOWN
    more = [f"… and {left:,} token{'s' if left > 1 else ''} more"] if left > 0 else []
    return {
        "data": [
            _words("token", np.full(len(shown), 0.25), rows, shown, textposition="middle left",
                   textfont={"size": 18}),
            _words("shapes", np.array([0.7, 3.0, 5.3]), np.full(3, -0.95),
                   [f"({d_model:,})", f"one W₁, b₁, W₂, b₂:<br>{n:,} parameters · ({d_ff:,})",
                    f"({d_model:,})"], textfont={"size": 17}),
            _words("arrows", np.repeat([1.33, 4.67], len(shown)), np.tile(rows, 2),
                   ["→"] * (2 * len(shown)), textfont={"size": 20}),
            _words("more", np.full(len(more), 3.0), np.full(len(more), bottom + 0.25), more),
        ],
        "layout": _bare(shapes, [-0.9, 5.8], [bottom + 0.5, -1.5]),
    }  # fmt: skip


def _words(name: str, x: Any, y: Any, text: Sequence[str], **more: Any) -> Trace:
    return {"type": "scatter", "mode": "text", "name": name, "x": x, "y": y, "text": text,
            "hoverinfo": "skip", **more}  # fmt: skip


def _box(x0: float, x1: float, y0: float, y1: float, colour: str) -> dict[str, Any]:
    return {"type": "rect", "x0": float(x0), "x1": float(x1), "y0": float(y0), "y1": float(y1),
            "fillcolor": colour, "line": {"width": 0}, "layer": "below"}  # fmt: skip


def _polygon(corners: Sequence[tuple[float, float]], colour: str) -> dict[str, Any]:
    path = "M" + " L".join(f"{x:g},{y:g}" for x, y in corners) + " Z"
    return {"type": "path", "path": path, "fillcolor": colour, "line": {"width": 0},
            "layer": "below"}  # fmt: skip


def _bare(shapes: list[dict[str, Any]], x: list[float], y: list[float]) -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": True}
    return {
        "xaxis": {**hidden, "range": x},
        "yaxis": {**hidden, "range": y},
        "shapes": shapes,
        "showlegend": False,
        "dragmode": False,
        "margin": {"l": 4, "r": 4, "t": 8, "b": 8},
    }
