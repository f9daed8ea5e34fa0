"""Shares of neurons awake: token by token in each block, and against the threshold."""

from collections.abc import Mapping, Sequence

import numpy as np

from ffnviz.figures.layout import (
    Figure,
    Trace,
    axis,
    escaped,
    figure,
    marked,
    panel_title,
    token_axis,
)
from ffnviz.figures.style import Array, Series

LOOKS = {True: ("solid", "circle", 3), False: ("dot", "circle-open", 1.5)}


def awake_by_token(
    shares: Mapping[tuple[Series, bool], Array],
    labels: Sequence[str],
    token: int,
    d_ff: int,
    first: int = 0,
    beside: str = "",
) -> Figure:
    """A panel a block, a line a network, trained and untrained.

    Args:
        shares: a network and whether it is trained → shares awake, (n_blocks, T), from 0 to 1.
        labels: the tokens as typed.
        token: the chosen one.
        d_ff: of how many neurons these are shares.
        first: which block the first panel shows, from 0.
        beside: said behind the block's number, where another network's block is another one.
    """
    n_blocks = len(next(iter(shares.values())))
    height = 1 / n_blocks
    traces: list[Trace] = []
    axes = {}
    top = 75 if max(float(each.max()) for each in shares.values()) <= 0.75 else 100
    for block in range(n_blocks):
        bottom = 1 - (block + 1) * height
        axes[f"yaxis{block + 1}"] = axis(
            "% active", domain=[bottom + 0.04, bottom + height - 0.08], range=[0, top], dtick=25
        )
        for (series, trained), by_block in shares.items():
            dash, symbol, width = LOOKS[trained]
            traces.append({
                "type": "scatter", "mode": "lines+markers",
                "name": escaped(series.label) + " untrained" * (not trained),
                "legendgroup": f"{series.label}{trained}", "showlegend": block == 0,
                "x": np.arange(len(labels)), "y": 100 * by_block[block],
                "customdata": np.arange(len(labels)), "yaxis": f"y{block + 1}",
                "meta": {"counts": np.rint(d_ff * by_block[block]).astype(int).tolist()},
                "line": {"color": f"@{series.colour}", "dash": dash, "width": width},
                "marker": {"color": f"@{series.colour}", "symbol": symbol, "size": 9},
                "hovertemplate": "%{y:.1f}%<extra>%{fullData.name}</extra>",
            })  # fmt: skip
    titles = [
        panel_title(f"block {first + block + 1}{escaped(beside)}", 0, 1 - block * height - 0.08)
        for block in range(n_blocks)
    ]
    return figure(
        traces,
        token_axis(labels, anchor=f"y{n_blocks}"),
        axes.pop("yaxis1"),
        **axes,
        shapes=[marked(token)],
        annotations=titles,
    )


def share_against_threshold(
    curves: Mapping[Series, tuple[Array, Array]], threshold: float
) -> Figure:
    """The share of values beyond a threshold, a curve a network, the slider's place marked."""
    return figure(
        [
            {"type": "scatter", "mode": "lines", "name": escaped(series.label), "x": x,
             "y": 100 * y,
             "line": {"color": f"@{series.colour}", "width": 4},
             "hovertemplate": "%{y:.1f}% beyond %{x:.3g}<extra></extra>"}
            for series, (x, y) in curves.items()
        ],
        axis("threshold on |hidden|", type="log", dtick=1),
        axis("% of values beyond it", range=[0, 102]),
        shapes=[{"type": "line", "x0": threshold, "x1": threshold, "y0": 0, "y1": 1,
                 "yref": "paper", "line": {"color": "@text", "width": 2, "dash": "dot"}}],
    )  # fmt: skip
