"""Singular values at each stage of an FFN, and in how many directions they spread."""

from collections.abc import Mapping, Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, figure, line_trace
from ffnviz.figures.style import Array, Series

LINES = {
    "input": ("@muted", "solid", "circle"),
    "before φ": ("@muted", "dot", "circle-open"),
    "after φ": ("accent", "solid", "circle"),
    "output": ("accent", "dot", "circle-open"),
}


def spectra(values: Mapping[str, Array], twin: str) -> Figure:
    """Each stage's singular values as shares of the largest, on a logarithmic scale."""
    traces = []
    for stage, singular in values.items():
        colour, dash, symbol = LINES[stage]
        colour = f"@{twin}" if colour == "accent" else colour
        largest = max(float(singular[0]), 1e-30) if len(singular) else 1.0
        traces.append(line_trace(
            stage, np.arange(1, len(singular) + 1), np.maximum(singular / largest, 1e-6),
            colour, 3, dash, mode="lines+markers",
            marker={"color": colour, "symbol": symbol, "size": 8},
            hovertemplate="%{y:.3f} of the largest<extra>%{fullData.name}</extra>",
        ))  # fmt: skip
    return figure(
        traces,
        axis("singular value, by size", dtick=max(1, len(traces[0]["x"]) // 8)),
        axis("share of the largest", type="log", dtick=1, range=[-3.2, 0.1]),
    )


def effective_ranks(ranks: Mapping[Series, Sequence[float]], stages: Sequence[str]) -> Figure:
    """A group of bars a stage, a bar a network."""
    return figure(
        [
            {"type": "bar", "name": series.label, "x": list(stages), "y": np.array(values),
             "text": [f"{value:.1f}" for value in values], "textposition": "outside",
             "textfont": {"size": 17}, "cliponaxis": False, "hoverinfo": "none",
             "marker": {"color": f"@{series.colour}"}}
            for series, values in ranks.items()
        ],
        axis(""),
        axis("effective rank",
             range=[0, 1.15 * max(max(values) for values in ranks.values()) + 0.1]),
        bargap=0.25,
    )  # fmt: skip
