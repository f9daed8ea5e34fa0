"""Expand and compress as a diagram: boxes as high as their vectors are wide."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ffnviz.figures.layout import Figure, shortened

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
    steps = [f"W₁<br>({d_model:,}, {d_ff:,})", "φ<br>one by one",
             f"W₂<br>({d_ff:,}, {d_model:,})"]  # fmt: skip
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
            {"type": "scatter", "mode": "text", "name": "shape", "x": places,
             "y": np.array(heights) / 2 + 0.05 * tallest, "hoverinfo": "skip",
             "text": [f"<b>({n_tokens:,}, {height:,})</b>" for height in heights],
             "textfont": {"size": 22}},
            {"type": "scatter", "mode": "text", "name": "value", "x": places,
             "y": -np.array(heights) / 2 - 0.05 * tallest, "hoverinfo": "skip", "text": names,
             "textfont": {"size": 17}},
            {"type": "scatter", "mode": "text", "name": "step", "x": places[:-1] + GAP / 2,
             "y": np.zeros(3), "hoverinfo": "skip", "text": steps, "textfont": {"size": 18}},
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
        shapes += [_box(0.35, 1.05, row - 0.2, row + 0.2, f"@{twin}/0.75"),
                   _box(1.9, 4.1, row - 0.2, row + 0.2, f"@{twin}/0.75"),
                   _box(4.95, 5.65, row - 0.2, row + 0.2, f"@{twin}/0.75")]  # fmt: skip
    left = len(labels) - SHOWN
    more = [f"… and {left:,} token{'s' if left > 1 else ''} more"] if left > 0 else []
    return {
        "data": [
            {"type": "scatter", "mode": "text", "name": "token", "x": np.full(len(shown), 0.25),
             "y": rows, "text": shown, "textposition": "middle left", "hoverinfo": "skip",
             "textfont": {"size": 18}},
            {"type": "scatter", "mode": "text", "name": "shapes", "hoverinfo": "skip",
             "x": np.array([0.7, 3.0, 5.3]), "y": np.full(3, -0.95),
             "text": [f"({d_model:,})", f"one W₁, b₁, W₂, b₂:<br>{n:,} parameters · ({d_ff:,})",
                      f"({d_model:,})"],
             "textfont": {"size": 17}},
            {"type": "scatter", "mode": "text", "name": "arrows", "hoverinfo": "skip",
             "x": np.repeat([1.33, 4.67], len(shown)), "y": np.tile(rows, 2),
             "text": ["→"] * (2 * len(shown)), "textfont": {"size": 20}},
            {"type": "scatter", "mode": "text", "name": "more", "hoverinfo": "skip",
             "x": np.full(len(more), 3.0), "y": np.full(len(more), bottom + 0.25), "text": more},
        ],
        "layout": _bare(shapes, [-0.9, 5.8], [bottom + 0.5, -1.5]),
    }  # fmt: skip


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
