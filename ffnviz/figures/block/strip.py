"""A stack with parts taken away: curves over the layers, and how alike the tokens are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.lab.curves import Lines, lines
from ffnviz.figures.layout import Figure, axis, bare_axis, figure, panel_title, some_named

FLOOR = 1e-17  # below what float64 can tell apart


def over_layers(series: Lines, title: str, legend: bool = True) -> Figure:
    """A line a stack from its input, layer 0, on; logarithmic; shorter stacks end earlier."""
    seen = np.concatenate([[1.0], *(values[values > 0] for values, _, _ in series.values())])
    decades = float(np.log10(seen.max() / max(FLOOR, seen.min())))
    ticks = {"dtick": max(1, round(decades / 2))} if decades > 1 else {}
    deepest = max(len(values) for values, _, _ in series.values())
    padded = {
        name: (np.concatenate([np.where(values > 0, np.maximum(values, FLOOR), np.nan),
                               np.full(deepest - len(values), np.nan)]), colour, dash)
        for name, (values, colour, dash) in series.items()
    }  # fmt: skip
    return lines(
        np.arange(deepest), padded, axis("layer", dtick=max(1, deepest // 8)),
        axis(title, type="log", exponentformat="power", **ticks),
        margin={"l": 92, "r": 16, "t": 44 if legend else 12, "b": 56}, showlegend=legend,
    )  # fmt: skip


def alike(
    maps: Sequence[tuple[str, NDArray[np.float64]]], labels: Sequence[str], colour: str
) -> Figure:
    """The cosine of any two tokens, a square a pair, in maps side by side.

    Args:
        maps: title and cosines, (T, T), of each.
        labels: the tokens as typed.
        colour: of 1; −1 has another, and 0 that of the page.
    """
    gap, traces, axes, titles = 0.14, [], {}, []
    width = (1 - gap * (len(maps) - 1)) / len(maps)
    ticks = {**some_named(labels, 12, 8), "tickfont": {"size": 16}}
    for place, (title, cosines) in enumerate(maps):
        left, number = place * (width + gap), str(place + 1) if place else ""
        traces.append({
            "type": "heatmap", "name": title, "z": cosines, "zmin": -1, "zmax": 1,
            "colorscale": [[0, "@negative_mid"], [0.5, "@background"], [1, colour]],
            "showscale": False, "xgap": 1, "ygap": 1,
            "xaxis": f"x{number}", "yaxis": f"y{number}",
            "hovertemplate": "%{y}, %{x}: cosine %{z:.3f}<extra></extra>",
        })  # fmt: skip
        axes[f"xaxis{number}"] = bare_axis(
            "", domain=[left, left + width], anchor=f"y{number}", **ticks
        )
        axes[f"yaxis{number}"] = bare_axis(
            "", anchor=f"x{number}", range=[len(labels) - 0.5, -0.5],
            showticklabels=place == 0, **ticks,
        )  # fmt: skip
        titles.append(panel_title(title, left, 1.01))
    return figure(
        traces,
        axes.pop("xaxis"), axes.pop("yaxis"), **axes, annotations=titles,
        meta={"panels": len(maps)}, showlegend=False,
        margin={"l": 92, "r": 10, "t": 40, "b": 70},
    )  # fmt: skip
