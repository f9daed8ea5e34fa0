"""A Plotly figure drawn in place, so that it never blinks, and saved as PNG, SVG or CSV.

st.plotly_chart builds its chart anew with every change; here Plotly.react changes the one there is.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ffnviz.pictures.declare import declare
from ffnviz.pictures.head import Head

_mount = declare("chart")


def chart(
    head: Head,
    figure: Mapping[str, Any],
    alt: str,
    stamp: str,
    key: str,
    height: int = 420,
    on_choose: Callable[[int], None] | None = None,
) -> None:
    """Show a figure; a click on a point hands its `customdata` to `on_choose`.

    Args:
        head: what stands above it.
        figure: {"data": traces, "layout": layout} as Plotly has them, numbers as NumPy arrays.
            Where a colour belongs, "@relu" takes it from the palette, "@relu/0.3" transparently.
        alt: what it shows, for those who cannot see it.
        stamp: told to the browser once painted.
        key: unique on the page.
        height: in CSS pixels.
        on_choose: called with the customdata, a whole number, of a clicked point.
    """

    def clicked() -> None:
        point = st.session_state[key].point
        if on_choose and is_drawn(point, figure):
            on_choose(int(point))

    arrays: dict[str, NDArray[Any]] = {}
    header = {
        "figure": _without_arrays(figure, arrays),
        "alt": alt,
        "height": height,
        "clickable": on_choose is not None,
        "head": head.to_json(),
        "stamp": stamp,
    }
    _mount(header, arrays, key=key, on_point_change=clicked)


def is_drawn(point: Any, figure: Mapping[str, Any]) -> bool:
    """Whether a figure has a point whose customdata is this whole number."""
    if not isinstance(point, int) or isinstance(point, bool):
        return False
    return any(point in np.ravel(trace.get("customdata", [])).tolist() for trace in figure["data"])


def _without_arrays(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """The same value with each array of numbers put into `arrays` and named instead."""
    if isinstance(value, Mapping):
        return {name: _without_arrays(inner, arrays) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(inner, arrays) for inner in value]
    if not isinstance(value, np.ndarray):
        return value.item() if isinstance(value, np.generic) else value
    name = f"array {len(arrays)}"
    arrays[name] = value.astype(np.int32 if value.dtype.kind in "iub" else np.float32)
    return {"array": name}
