"""A Plotly figure drawn in place, so that it never blinks, and saved as PNG, SVG or CSV.

st.plotly_chart builds its chart anew with every change; here Plotly.react changes the one there is.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell, Head, event, member


def chart_cell(
    head: Head,
    # {"data": traces, "layout": layout} as Plotly has them, numbers as NumPy arrays. Where a colour
    # belongs, "@relu" takes it from the palette, "@relu/0.3" transparently.
    figure: Mapping[str, Any],
    alt: str,  # the text alternative
    key: str = "",  # unique on the sheet; the note of its head if left out
    height: int = 420,  # in CSS pixels
    # gives the action for the customdata, a whole number, of a clicked point
    on_choose: Callable[[int], Any] | None = None,
) -> Cell:
    """A Plotly figure; a click on a point asks for `on_choose` of its `customdata`."""
    arrays: dict[str, NDArray[Any]] = {}
    header = {
        "figure": _without_arrays(figure, arrays),
        "alt": alt,
        "height": height,
        "clickable": on_choose is not None,
        "head": head.to_json(),
    }
    events = {} if on_choose is None else {"point": event(on_choose, _drawn, figure)}
    return Cell("chart", key or head.note, header, arrays, events)


def _drawn(point: Any, figure: Mapping[str, Any]) -> int | None:
    """The customdata of one of a figure's points, or None if it is anything else."""
    drawn = [np.ravel(trace.get("customdata", [])).tolist() for trace in figure["data"]]
    return member(point, [each for points in drawn for each in points])


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
