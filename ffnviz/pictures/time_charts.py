"""Measured times as pictures: stages, products, growth."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ffnviz.pictures.plot import (
    Array,
    Figure,
    Trace,
    axis,
    figure,
    line_trace,
    log_axis,
    vertical_line,
)
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


def stages(
    times: Mapping[str, Times], kinds: Mapping[str, str], twin: str, unit: str = "ms"
) -> Figure:
    """A bar a stage in the order of the pass, with its quartiles as whiskers."""
    names = list(times)
    traces = []
    for kind, colour in COLOURS.items():
        chosen = [name for name in names if kinds[name] == kind]
        median, lower, upper = (np.array([times[name][k] for name in chosen]) for k in range(3))
        traces.append({
            "type": "bar", "orientation": "h", "name": kind, "x": median, "y": chosen,
            "meta": {"named": "stage"},
            "marker": {"color": f"@{twin}" if colour == "accent" else colour},
            "error_x": {"type": "data", "symmetric": False, "array": upper - median,
                        "arrayminus": median - lower, "color": "@muted", "thickness": 2},
            "hovertemplate": "%{y}: %{x:.3f} " + unit + "<extra></extra>",
        })  # fmt: skip
    return figure(
        traces,
        axis(f"{unit}, median and quartiles", rangemode="tozero"),
        axis(
            "",
            categoryorder="array",
            categoryarray=names[::-1],
            showgrid=False,
            tickfont={"size": 16},
        ),
        margin={"l": 150, "r": 20, "t": 40, "b": 56},
        bargap=0.25,
    )


def limits(
    parts: Sequence[str],
    took: Sequence[float],  # ms of each
    reading: Sequence[float],  # ms to read its weights from memory, at this machine's best speed
    multiplying: Sequence[float],  # ms to multiply them
    accent: str,
) -> Figure:
    """What each part of the pass took beside what the machine needs at its best."""
    shares = [max(pair) / ms for *pair, ms in zip(reading, multiplying, took, strict=True)]
    kinds = (
        ("it took", took, f"@{accent}"),
        ("to read the weights", reading, "@muted"),
        ("to multiply", multiplying, "@line"),
    )
    return figure(
        [
            {"type": "bar", "name": name, "x": list(parts), "y": np.array(values),
             "marker": {"color": colour}, "text": [_three_digits(value) for value in values],
             "textposition": "outside", "textangle": 0, "cliponaxis": False,
             "meta": {"named": "part"},
             "hovertemplate": "%{y:.3f} ms<extra>%{fullData.name}</extra>"}
            for name, values, colour in kinds
        ],
        axis("", tickfont={"size": 16}, tickvals=list(parts), showgrid=False,
             ticktext=[f"{part}: {percent(share)}"
                       for part, share in zip(parts, shares, strict=True)]),
        axis("ms, least", rangemode="tozero", nticks=5),
        barmode="group",
        bargroupgap=0.08,
    )  # fmt: skip


def _three_digits(ms: float) -> str:
    """A time as three digits, which a narrow bar has room for."""
    ms = float(f"{ms:.3g}")  # 9.996 has one place after the point, as 10.0
    return f"{ms:.{max(0, 2 - int(math.log10(max(ms, 1))))}f}"


def side_by_side(times: Mapping[str, Mapping[str, float]], accents: Sequence[str]) -> Figure:
    """The stages' medians on several devices, a bar a device, on a logarithmic scale."""
    return figure(
        [
            {
                "type": "bar",
                "orientation": "h",
                "name": device,
                "y": list(series),
                "x": np.array(list(series.values())),
                "marker": {"color": accent},
                "meta": {"named": "stage"},
                "hovertemplate": "%{y}: %{x:.3f} ms<extra>%{fullData.name}</extra>",
            }
            for (device, series), accent in zip(times.items(), accents, strict=True)
        ],
        axis("ms, median, logarithmic", type="log"),
        axis("", autorange="reversed", showgrid=False, tickfont={"size": 16}),
        margin={"l": 150, "r": 20, "t": 40, "b": 56},
        barmode="group",
    )


def products(
    names: Sequence[str],
    shapes: Sequence[str],
    shares: Array,
    rates: Sequence[str],  # in multiply-adds a second, as text
    ffn: Sequence[bool],  # which are the FFN's
    twin: str,
) -> Figure:
    """What share of the machine's best each matrix product reaches."""
    labels = [f"{name}<br>{shape}" for name, shape in zip(names, shapes, strict=True)]
    return figure(
        [{
            "type": "bar", "orientation": "h", "name": "share of the best", "x": 100 * shares,
            "y": labels, "hoverinfo": "none", "text": [f"<b>{rate}</b>" for rate in rates],
            "meta": {"labels": list(rates), "named": "matrix product"},
            "textposition": "outside", "textfont": {"size": 17}, "cliponaxis": False,
            "marker": {"color": [f"@{twin}" if is_ffn else "@muted" for is_ffn in ffn]},
        }],
        axis("% of the best on this machine; beside the bars, multiply-adds a second",
             range=[0, max(125.0, 150 * float(shares.max()))]),
        axis("", autorange="reversed", showgrid=False),
        margin={"l": 190, "r": 20, "t": 12, "b": 56},
        shapes=[vertical_line(100)],
    )  # fmt: skip


def line_of_times(
    name: str,
    x: Sequence[int],
    spreads: Sequence[Times],
    colour: str,
    hover: str,
    dash: str = "solid",
) -> Trace:
    """Medians with quartiles against sizes, joined by a line."""
    median, lower, upper = (np.array(part) for part in zip(*spreads, strict=True))
    whiskers = {
        "type": "data",
        "symmetric": False,
        "color": colour,
        "thickness": 2,
        "array": upper - median,
        "arrayminus": median - lower,
    }
    return line_trace(
        name, np.array(x), median, colour, 3, dash, dots=9, error_y=whiskers, hovertemplate=hover
    )


def growth(
    sizes: Sequence[int], times: Mapping[str, Sequence[Times]], what: str, twin: str
) -> Figure:
    """Time against size, both logarithmic, a line a series; a straight line is a power."""
    hover = "%{y:.2f} ms at %{x:,}<extra>%{fullData.name}</extra>"
    traces = [
        line_of_times(
            name,
            sizes,
            spreads,
            f"@{twin}" if name.startswith("FFN") else "@muted",
            hover,
            "dot" if name.endswith("32") else "solid",
        )
        for name, spreads in times.items()
    ]
    return figure(
        traces,
        log_axis(what, sizes),
        axis("ms, median and quartiles", type="log", dtick=1),
    )
