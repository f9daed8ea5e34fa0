"""Dropout's passes: where they fall, and how their mean settles."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, bare_axis, figure
from ffnviz.figures.style import Array


def scattered(names: Sequence[str], outputs: Array, plain: Array, twin: str) -> Figure:
    """A column a component: a dot a pass, their mean, and the pass without dropout.

    Args:
        names: of the components.
        outputs: (n_passes, k).
        plain: without dropout, (k,).
        twin: the accent.
    """
    n, k = outputs.shape
    # Dots side by side, in an order that is always the same, so that they do not hide each other.
    aside = ((np.arange(n) * 0.618) % 1 - 0.5) * 0.62
    places = np.arange(k)
    return figure(
        [
            {"type": "scatter", "mode": "markers", "name": "a pass with dropout",
             "x": (places[None] + aside[:, None]).ravel(), "y": outputs.ravel(),
             "marker": {"color": f"@{twin}/0.35", "size": 5}, "hoverinfo": "none"},
            {"type": "scatter", "mode": "markers", "name": "their mean", "x": places,
             "y": outputs.mean(axis=0),
             "marker": {"color": f"@{twin}", "size": 16, "symbol": "diamond",
                        "line": {"color": "@background", "width": 2}}},
            {"type": "scatter", "mode": "markers", "name": "without dropout", "x": places,
             "y": plain, "marker": {"color": "@text", "size": 34, "symbol": "line-ew-open",
                                    "line": {"width": 4}}},
        ],
        bare_axis("component of the FFN's output", tickvals=places, ticktext=list(names),
                  range=[-0.6, k - 0.4]),
        axis("its value"),
    )  # fmt: skip
