"""A training record as curves: the loss falls, and so does the share of active neurons."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, Trace, axis, escaped, figure, line_trace, panel_title
from ffnviz.figures.style import Array, Series

# Share of units above zero in large trained models: Li et al. 2022, arXiv:2210.06313.
PUBLISHED = {"T5-Base": 3.0, "ViT-B/16": 6.3}
DOMAINS = ((0.53, 0.95), (0.26, 0.43), (0, 0.17))
DASHES = ("solid", "dot", "dash", "longdash")


def birth(
    tokens: NDArray[np.integer],
    panels: Sequence[tuple[str, Mapping[tuple[Series, int], Array]]],
    loss: Mapping[Series, Array],
) -> Figure:
    """Curves over the tokens seen, the first and last point marked; three panels in all.

    Args:
        tokens: seen at each point, (n,), the first 0.
        panels: a title, and (network, block) → percent at each point, (n,).
        loss: network → loss at each point, in nats, (n,); the last panel.
    """
    millions = tokens / 1e6
    traces: list[Trace] = []
    axes, titles = {}, []
    for place, (title, curves) in enumerate(panels):
        y = f"y{place + 1}"
        for (series, block), values in curves.items():
            name, dash = f"{escaped(series.label)}, block {block + 1}", DASHES[block % len(DASHES)]
            traces.append(_curve(name, series.colour, millions, values, y, dash, place == 0))
        axes[f"yaxis{place + 1}"] = axis(
            "%", domain=list(DOMAINS[place]), rangemode="tozero", nticks=4
        )
        titles.append(panel_title(title, 0, DOMAINS[place][1]))
    # The share falls to a seventh: only a logarithmic axis keeps its end apart from nothing.
    axes["yaxis1"] |= {"type": "log", "tickvals": [3, 6, 12, 25, 50], "range": [0.35, 1.8]}
    last = len(panels) + 1
    for series, values in loss.items():
        name = f"{escaped(series.label)}, loss"
        traces.append(_curve(name, series.colour, millions, values, f"y{last}", "solid", False))
    axes[f"yaxis{last}"] = axis("nats", domain=list(DOMAINS[-1]), nticks=2)
    titles.append(panel_title("loss at masked words (the curves coincide)", 0, DOMAINS[-1][1]))
    reach = [-0.02 * float(millions[-1]), 1.02 * float(millions[-1])]
    bands = [
        {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": value, "y1": value, "yref": "y",
         "line": {"color": "@muted", "width": 1.5, "dash": "dashdot"}}
        for value in PUBLISHED.values()
    ]  # fmt: skip
    notes = [
        {"text": f"{name} {value:g}% (published)", "x": 1, "xref": "paper", "xanchor": "right",
         "y": float(np.log10(value)), "yref": "y", "yanchor": "top", "showarrow": False,
         "font": {"size": 16}}
        for name, value in PUBLISHED.items()
    ]  # fmt: skip
    return figure(
        traces,
        axis("million tokens seen", range=reach, anchor=f"y{last}"),
        axes.pop("yaxis1"),
        **axes,
        shapes=bands,
        annotations=[*titles, *notes],
    )


def _curve(
    name: str, accent: str, x: Array, y: Array, y_axis: str, dash: str, in_legend: bool
) -> Trace:
    ends = np.zeros(len(x))
    ends[[0, -1]] = 11
    hover = "%{y:.3g} at %{x:.1f} million tokens<extra>%{fullData.name}</extra>"
    return line_trace(name, x, y, f"@{accent}", 3, dash, mode="lines+markers", yaxis=y_axis,
                      showlegend=in_legend, marker={"size": ends, "color": f"@{accent}"},
                      hovertemplate=hover)  # fmt: skip
