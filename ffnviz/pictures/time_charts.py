"""Measured times as pictures: stages, products, growth."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ffnviz.pictures import plot
from ffnviz.pictures.wording import percent

# The FFN has the accent; the others must not look like an activation function.
COLOURS = {
    "FFN": "accent",
    "attention": "@positive_mid",
    "norm": "@negative_mid",
    "output": "@text",
    "stream": "@muted",
    "text": "@line",
}
Times = tuple[float, float, float]  # median, lower and upper quartile


def _whiskers(
    median: plot.Array, lower: plot.Array, upper: plot.Array, colour: str
) -> dict[str, Any]:
    ends = {"array": upper - median, "arrayminus": median - lower}
    return {"type": "data", "symmetric": False, "color": colour, "thickness": 2, **ends}


def stages(times: Mapping[str, Times], kinds: Mapping[str, str], twin: str) -> plot.Figure:
    """A bar a stage in the order of the pass, with its quartiles as whiskers."""
    names = list(times)
    traces, hover = [], "%{y}: %{x:.3f} ms<extra></extra>"
    more = {"orientation": "h", "meta": {"named": "stage"}, "hovertemplate": hover}
    for kind, colour in COLOURS.items():
        chosen = [name for name in names if kinds[name] == kind]
        median, lower, upper = (np.array([times[name][k] for name in chosen]) for k in range(3))
        accent = f"@{twin}" if colour == "accent" else colour
        whiskers = _whiskers(median, lower, upper, "@muted")
        traces.append(plot.bar_trace(kind, median, chosen, accent, error_x=whiskers, **more))
    in_order = {"categoryorder": "array", "categoryarray": names[::-1]}
    return plot.figure(
        traces,
        plot.axis("ms, median and quartiles", rangemode="tozero"),
        plot.axis("", **in_order, showgrid=False, tickfont={"size": 16}),
        margin={"l": 150, "r": 20, "t": 40, "b": 56},
        bargap=0.25,
    )


def limits(
    parts: Sequence[str],
    took: Sequence[float],  # ms of each
    reading: Sequence[float],  # ms to read its weights from memory, at this machine's best speed
    multiplying: Sequence[float],  # ms to multiply them
    accent: str,
) -> plot.Figure:
    """What each part of the pass took beside what the machine needs at its best."""
    shares = [max(pair) / ms for *pair, ms in zip(reading, multiplying, took, strict=True)]
    kinds = (
        ("it took", took, f"@{accent}"),
        ("to read the weights", reading, "@muted"),
        ("to multiply", multiplying, "@line"),
    )
    return plot.figure(
        [
            {"type": "bar", "name": name, "x": list(parts), "y": np.array(values),
             "marker": {"color": colour}, "text": [_three_digits(value) for value in values],
             "textposition": "outside", "textangle": 0, "cliponaxis": False,
             "meta": {"named": "part"},
             "hovertemplate": "%{y:.3f} ms<extra>%{fullData.name}</extra>"}
            for name, values, colour in kinds
        ],
        plot.axis("", tickfont={"size": 16}, tickvals=list(parts), showgrid=False,
                  ticktext=[f"{part}: {percent(share)}"
                            for part, share in zip(parts, shares, strict=True)]),
        plot.axis("ms, least", rangemode="tozero", nticks=5),
        barmode="group",
        bargroupgap=0.08,
    )  # fmt: skip


def _three_digits(ms: float) -> str:
    """A time as three digits, which a narrow bar has room for."""
    ms = float(f"{ms:.3g}")  # 9.996 has one place after the point, as 10.0
    return f"{ms:.{max(0, 2 - int(math.log10(max(ms, 1))))}f}"


def side_by_side(times: Mapping[str, Mapping[str, float]], accents: Sequence[str]) -> plot.Figure:
    """The stages' medians on several devices, a bar a device, on a logarithmic scale."""
    hover = "%{y}: %{x:.3f} ms<extra>%{fullData.name}</extra>"
    more = {"orientation": "h", "meta": {"named": "stage"}, "hovertemplate": hover}
    return plot.figure(
        [
            plot.bar_trace(device, np.array(list(series.values())), list(series), accent, **more)
            for (device, series), accent in zip(times.items(), accents, strict=True)
        ],
        plot.axis("ms, median, logarithmic", type="log"),
        plot.axis("", autorange="reversed", showgrid=False, tickfont={"size": 16}),
        margin={"l": 150, "r": 20, "t": 40, "b": 56},
        barmode="group",
    )


def products(
    names: Sequence[str],
    shapes: Sequence[str],
    shares: plot.Array,
    rates: Sequence[str],  # in multiply-adds a second, as text
    ffn: Sequence[bool],  # which are the FFN's
    twin: str,
) -> plot.Figure:
    """What share of the machine's best each matrix product reaches."""
    labels = [f"{name}<br>{shape}" for name, shape in zip(names, shapes, strict=True)]
    return plot.figure(
        [{
            "type": "bar", "orientation": "h", "name": "share of the best", "x": 100 * shares,
            "y": labels, "hoverinfo": "none", "text": [f"<b>{rate}</b>" for rate in rates],
            "meta": {"labels": list(rates), "named": "matrix product"},
            "textposition": "outside", "textfont": {"size": 17}, "cliponaxis": False,
            "marker": {"color": [f"@{twin}" if is_ffn else "@muted" for is_ffn in ffn]},
        }],
        plot.axis("% of the best on this machine; beside the bars, multiply-adds a second",
                  range=[0, max(125.0, 150 * float(shares.max()))]),
        plot.axis("", autorange="reversed", showgrid=False),
        margin={"l": 190, "r": 20, "t": 12, "b": 56},
        shapes=[plot.vertical_line(100)],
    )  # fmt: skip


def line_of_times(
    name: str,
    x: Sequence[int],
    spreads: Sequence[Times],
    colour: str,
    hover: str,
    dash: str = "solid",
) -> plot.Trace:
    """Medians with quartiles against sizes, joined by a line."""
    median, lower, upper = (np.array(part) for part in zip(*spreads, strict=True))
    whiskers = _whiskers(median, lower, upper, colour)
    return plot.line_trace(
        name, np.array(x), median, colour, 3, dash, dots=9, error_y=whiskers, hovertemplate=hover
    )


def growth(
    sizes: Sequence[int], times: Mapping[str, Sequence[Times]], what: str, twin: str
) -> plot.Figure:
    """Time against size, both logarithmic, a line a series; a straight line is a power."""
    hover = "%{y:.2f} ms at %{x:,}<extra>%{fullData.name}</extra>"
    traces = []
    for name, spreads in times.items():
        colour = f"@{twin}" if name.startswith("FFN") else "@muted"
        dash = "dot" if name.endswith("32") else "solid"
        traces.append(line_of_times(name, sizes, spreads, colour, hover, dash))
    y_axis = plot.axis("ms, median and quartiles", type="log", dtick=1)
    return plot.figure(traces, plot.log_axis(what, sizes), y_axis)
