"""What all Plotly figures share: axes with titles, room for them, and text that stays text.

A figure is a plain dict of traces and layout, as plotly.js takes it: building it is ten times
quicker than through plotly.graph_objects, which the tests use to check it.
"""

from collections.abc import Sequence
from typing import Any

Figure = dict[str, Any]
Trace = dict[str, Any]


def escaped(text: str) -> str:
    """Text as Plotly shows it letter by letter; unescaped, it reads <b> and &amp; as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def isolated(text: str) -> str:
    """A token among other words: one that runs from right to left turns only itself.

    The two signs are Unicode's first strong isolate and its end (UAX #9); nobody sees them.
    """
    return f"\u2068{text}\u2069"


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis that says what it counts; `more` as in Plotly's layout."""
    return {
        "title": {"text": title, "standoff": 10},
        "gridcolor": "@line",
        "linecolor": "@line",
        "zerolinecolor": "@muted",
        "automargin": False,
        **more,
    }


def layout(x: dict[str, Any], y: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A layout of one pair of axes; more axes and the rest as in Plotly's layout."""
    return {
        "xaxis": x,
        "yaxis": y,
        "margin": {"l": 70, "r": 20, "t": 36, "b": 56},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hovermode": "closest",
        "uirevision": "kept",
        **more,
    }


def figure(traces: Sequence[object], x: dict[str, Any], y: dict[str, Any], **more: Any) -> Figure:
    """Traces in a layout of one pair of axes; more axes and the rest as in Plotly's layout."""
    return {"data": traces, "layout": layout(x, y, **more)}


def panel_title(text: str, x: float, y: float = 1.0) -> dict[str, Any]:
    """A title over one panel of a figure, as an annotation in paper coordinates."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "align": "left",
        "font": {"size": 17},
    }


def token_axis(labels: Sequence[str], **more: Any) -> dict[str, Any]:
    """An axis of tokens, in the person's own spelling; of many, some are named."""
    every = max(1, -(-len(labels) // 40))
    places = list(range(0, len(labels), every))
    names = [escaped(shortened(labels[place])) for place in places]
    return axis(
        "token",
        tickvals=places,
        ticktext=names,
        range=[-0.6, len(labels) - 0.4],
        showgrid=False,
        zeroline=False,
        **more,
    )


def shortened(label: str, longest: int = 14) -> str:
    """A label that fits on an axis."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def marked(place: float, **more: Any) -> dict[str, Any]:
    """A light band behind the chosen token, as a shape."""
    return {
        "type": "rect",
        "x0": place - 0.5,
        "x1": place + 0.5,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "fillcolor": "@muted/0.18",
        "line": {"width": 0},
        "layer": "below",
        **more,
    }
