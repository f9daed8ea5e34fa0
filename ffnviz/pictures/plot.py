"""What all Plotly figures share: colours, axes, lines, marks, and text that stays text.

A figure is a plain dict of traces and layout, as plotly.js takes it: building it is ten times
quicker than through plotly.graph_objects, which the tests use to check it. The accents are Okabe &
Ito's vermillion and blue (2008), those of trained networks its reddish purple and bluish green,
darker on white and lighter on black. The signed scale runs from violet through the background to
green, a pair that stays apart for colour-blind eyes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS hexadecimal."""

    background: str  # also what zero looks like
    surface: str  # of buttons and marked rows
    # text, muted, line: for type, lesser type, and axes
    text: str
    muted: str
    line: str
    focus: str  # the outline of what the keyboard is at
    # relu, gelu: the accent of each activation function
    relu: str
    gelu: str
    # of networks that visitors trained: one with ReLU, and one with another φ
    learned: str
    learned_other: str
    # positive, negative: far ends of the signed scale; *_mid are its halfway points
    positive: str
    positive_mid: str
    negative: str
    negative_mid: str


class Named(Protocol):
    """Anything with a name in the legend and a colour of its own, such as a network's card."""

    @property
    def label(self) -> str:
        """In legends and sentences."""

    @property
    def colour(self) -> str:
        """A name in the palette, or "#rrggbb"."""


Series = TypeVar("Series", bound=Named)

_FILE = Path(__file__).parents[1] / "pictures" / "static" / "palettes.json"
_PALETTES = json.loads(_FILE.read_text(encoding="utf-8"))
LIGHT = Palette(**_PALETTES["light"])
DARK = Palette(**_PALETTES["dark"])


Figure = dict[str, Any]
Trace = dict[str, Any]
Options = dict[str, Any]  # further ones of a trace or an axis, as Plotly has them


def escaped(text: str) -> str:
    """Text as Plotly shows it letter by letter; unescaped, it reads <b> and &amp; as markup."""
    return escape(text, quote=False)


def isolated(text: str) -> str:
    """A token among other words: one that runs from right to left turns only itself.

    The two signs are Unicode's first strong isolate and its end (UAX #9); nobody sees them.
    """
    return f"\u2068{text}\u2069"


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis that says what it counts; `more` as in Plotly's layout."""
    lines = {"gridcolor": "@line", "linecolor": "@line", "zerolinecolor": "@muted"}
    return {"title": {"text": title, "standoff": 10}, **lines, "automargin": False, **more}


def bare_axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis without a grid or a line at zero."""
    return axis(title, showgrid=False, zeroline=False, **more)


def row_axis(n: int, title: str = "", **more: Any) -> dict[str, Any]:
    """A bare y axis with room for n rows of bars or dots, the first at the top."""
    return bare_axis(title, range=[n - 0.4, -0.6], **more)


def log_axis(title: str, ticks: Sequence[int]) -> dict[str, Any]:
    """A logarithmic axis with a tick at each of these numbers."""
    return axis(title, type="log", tickvals=list(ticks), ticktext=[f"{n:,}" for n in ticks])


def token_axis(labels: Sequence[str], **more: Any) -> dict[str, Any]:
    """An axis of tokens, in the person's own spelling; of many, some are named."""
    return bare_axis("token", **some_named(labels, 40), range=[-0.6, len(labels) - 0.4], **more)


def some_named(labels: Sequence[str], most: int, longest: int = 14) -> dict[str, Any]:
    """Ticks at the places of labels, for an axis; at every second or third where there are many."""
    places = list(range(0, len(labels), max(1, -(-len(labels) // most))))
    names = [escaped(shortened(labels[place], longest)) for place in places]
    return {"tickvals": places, "ticktext": names}


def figure(traces: Sequence[object], x: dict[str, Any], y: dict[str, Any], **more: Any) -> Figure:
    """Traces in a layout of one pair of axes; more axes and the rest as in Plotly's layout."""
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    usual = {"margin": {"l": 70, "r": 20, "t": 36, "b": 56}, "legend": legend}
    usual |= {"hovermode": "closest", "uirevision": "kept"}
    return {"data": traces, "layout": {"xaxis": x, "yaxis": y, **usual, **more}}


def line_trace(
    name: str,
    x: Any,
    y: Any,
    colour: str,
    width: float,
    dash: str = "solid",
    *,
    dots: int = 0,
    **more: Any,
) -> Trace:
    """A line through points, with dots of that size if any; `more` as in Plotly's scatter."""
    line = {"color": colour, "width": width, "dash": dash}
    drawn: Trace = {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": line}
    if dots:
        drawn |= {"mode": "lines+markers", "marker": {"color": colour, "size": dots}}
    return drawn | more


def bar_trace(name: str, x: Any, y: Any, colour: Any, **more: Any) -> Trace:
    """Bars in a colour, or each in its own; `more` as in Plotly's bar."""
    return {"type": "bar", "name": name, "x": x, "y": y, "marker": {"color": colour}, **more}


def ring(
    name: str, x: Any, y: Any, colour: str | Sequence[str], size: int = 16, **more: Any
) -> Trace:
    """Hollow circles that mark points of a line; `more` as in Plotly's scatter."""
    marker = {"color": "@background", "size": size, "line": {"color": colour, "width": 4}}
    return dots(name, x, y, marker, **{"showlegend": False, "hoverinfo": "none", **more})


def dots(name: str, x: Any, y: Any, marker: dict[str, Any], **more: Any) -> Trace:
    """Points without a line; `marker` and `more` as in Plotly's scatter."""
    drawn = {"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y}
    return {**drawn, "marker": marker, **more}


def heatmap(name: str, z: Array, low: float, high: float, **more: Any) -> Trace:
    """A cell a value, coloured from low to high; `more` as in Plotly's heatmap."""
    return {"type": "heatmap", "name": name, "z": z, "zmin": low, "zmax": high, **more}


def outline(x0: float, x1: float, y0: float, y1: float) -> dict[str, Any]:
    """A line around cells of a heatmap, from place to place, as a shape."""
    ends = {"x0": x0 - 0.5, "x1": x1 + 0.5, "y0": y0 - 0.5, "y1": y1 + 0.5}
    return {"type": "rect", **ends, "line": {"color": "@text", "width": 2}}


def vertical_line(
    x: float, width: float = 2, dash: str = "dot", colour: str = "@text", **more: Any
) -> dict[str, Any]:
    """A line across the whole height, as a shape; `more` as in Plotly's."""
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": {"color": colour, "width": width, "dash": dash}, **more}


def signed_colours(title: str) -> dict[str, Any]:
    """Colours of a heatmap in which zero looks like the background; their bar stands above it."""
    scale = [[0, "@negative_mid"], [0.5, "@background"], [1, "@positive_mid"]]
    place = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "len": 0.6, "thickness": 12}
    return {"colorscale": scale, "colorbar": {"title": {"text": title, "side": "right"}, **place}}


def panel_title(text: str, x: float, y: float = 1.0, inside: bool = False) -> dict[str, Any]:
    """A title over one panel of a figure, or in it, as an annotation in paper coordinates."""
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "align": "left"}
    anchor = "top" if inside else "bottom"
    return {"text": text, **place, "yanchor": anchor, "showarrow": False, "font": {"size": 17}}


def shortened(label: str, longest: int = 14) -> str:
    """A label that fits on an axis."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def band(x0: float, x1: float) -> dict[str, Any]:
    """A light band behind a stretch of the x axis, as a shape."""
    corners = {"x0": x0, "x1": x1, "y0": 0, "y1": 1, "yref": "paper"}
    look = {"fillcolor": "@muted/0.18", "line": {"width": 0}, "layer": "below"}
    return {"type": "rect", **corners, **look}


# name → values (n,), colour, and dash ("solid", "dot", "dash")
Lines = Mapping[str, tuple[Array, str, str]]


def lines(
    x: NDArray[np.number[Any]],  # shared by all, (n,)
    series: Lines,
    x_axis: dict[str, Any],
    y_axis: dict[str, Any],
    dots: int = 8,  # their size; 0 for none
    **more: Any,  # as in Plotly's layout
) -> Figure:
    """A line a series."""
    return figure(
        [
            line_trace(name, x, values, colour, 3, dash, dots=dots,
                       hovertemplate="%{x}: %{y:.3g}<extra>%{fullData.name}</extra>")
            for name, (values, colour, dash) in series.items()
        ],
        x_axis, y_axis, **more,
    )  # fmt: skip


def grouped(
    names: Sequence[str], series: Mapping[str, tuple[Array, str]], title: str, **more: Any
) -> Figure:
    """Bars side by side: a group a name, which is escaped, and a bar a series."""
    x, hover = np.arange(len(names)), "%{y:.3g}<extra>%{fullData.name}</extra>"
    return figure(
        [
            bar_trace(name, x, values, colour, hovertemplate=hover)
            for name, (values, colour) in series.items()
        ],
        bare_axis("", tickvals=list(range(len(names))), ticktext=list(names)),
        axis(title, **more),
        barmode="group",
        margin={"l": 64, "r": 12, "t": 40, "b": 66},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 13}},
    )
