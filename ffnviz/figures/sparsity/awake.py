"""Shares of neurons awake: token by token in each block, and against the threshold."""

from collections.abc import Mapping, Sequence

import numpy as np

from ffnviz.figures.layout import (
    Figure,
    Trace,
    axis,
    band,
    escaped,
    figure,
    line_trace,
    panel_title,
    token_axis,
    vertical_line,
)
from ffnviz.figures.style import Array, Series

LOOKS = {True: ("solid", "circle", 3), False: ("dot", "circle-open", 1.5)}


def awake_by_token(
    shares: Mapping[tuple[Series, bool], Array],
    labels: Sequence[str],
    token: int,
    d_ff: int,
    first: int = 0,
    suffix: str = "",
) -> Figure:
    """A panel a block, a line a network, trained and untrained.

    Args:
        shares: a network and whether it is trained → shares awake, (n_blocks, T), from 0 to 1.
        labels: the tokens as typed.
        token: the chosen one.
        d_ff: of how many neurons these are shares.
        first: which block the first panel shows, from 0.
        suffix: of the panels' titles, where another network's block is another one.
    """
    n_blocks = len(next(iter(shares.values())))
    height = 1 / n_blocks
    places = np.arange(len(labels))
    traces: list[Trace] = []
    axes, titles = {}, []
    top = 75 if max(float(each.max()) for each in shares.values()) <= 0.75 else 100
    for block in range(n_blocks):
        bottom = 1 - (block + 1) * height
        axes[f"yaxis{block + 1}"] = axis(
            "% active", domain=[bottom + 0.04, bottom + height - 0.08], range=[0, top], dtick=25
        )
        for (series, trained), by_block in shares.items():
            dash, symbol, width = LOOKS[trained]
            name = escaped(series.label) + " untrained" * (not trained)
            traces.append(line_trace(
                name, places, 100 * by_block[block], f"@{series.colour}", width, dash,
                mode="lines+markers", yaxis=f"y{block + 1}", customdata=places,
                legendgroup=f"{series.label}{trained}", showlegend=block == 0,
                meta={"counts": np.rint(d_ff * by_block[block]).astype(int).tolist()},
                marker={"color": f"@{series.colour}", "symbol": symbol, "size": 9},
                hovertemplate="%{y:.1f}%<extra>%{fullData.name}</extra>",
            ))  # fmt: skip
        title = f"block {first + block + 1}{escaped(suffix)}"
        titles.append(panel_title(title, 0, 1 - block * height - 0.08))
    return figure(
        traces,
        token_axis(labels, anchor=f"y{n_blocks}"),
        axes.pop("yaxis1"),
        **axes,
        shapes=[band(token - 0.5, token + 0.5)],
        annotations=titles,
    )


def share_against_threshold(
    curves: Mapping[Series, tuple[Array, Array]], threshold: float
) -> Figure:
    """The share of values beyond a threshold, a curve a network, the slider's place marked."""
    return figure(
        [
            line_trace(escaped(series.label), x, 100 * y, f"@{series.colour}", 4,
                       hovertemplate="%{y:.1f}% beyond %{x:.3g}<extra></extra>")
            for series, (x, y) in curves.items()
        ],
        axis("threshold on |hidden|", type="log", dtick=1),
        axis("% of values beyond it", range=[0, 102]),
        shapes=[vertical_line(threshold)],
    )  # fmt: skip
