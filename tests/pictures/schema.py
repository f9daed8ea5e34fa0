"""A figure as plotly.py accepts it: an unknown or impossible property raises there."""

import re
from dataclasses import asdict, dataclass
from typing import Any

import plotly.graph_objects as go

from ffnviz.pictures.plot import LIGHT, Figure

COLOURS = asdict(LIGHT)


@dataclass(frozen=True)
class Line:
    """What a network's card tells a figure."""

    label: str
    colour: str


def checked(figure: Figure) -> go.Figure:
    """The figure with its colours filled in as chart.js does it.

    Raises:
        ValueError: if plotly's schema does not allow it.
        KeyError: if a colour is not in the palette.
    """
    return go.Figure(_filled(figure))


def _filled(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, key) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(inner, name) for inner in value]
    is_colour = re.search(r"colou?r(scale)?$", name, re.IGNORECASE)
    if is_colour and isinstance(value, str) and value.startswith("@"):
        return COLOURS[value[1:].partition("/")[0]]
    return value
