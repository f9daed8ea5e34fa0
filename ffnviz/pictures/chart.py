"""A Plotly figure changed in place, so that it never blinks, and saved as PNG, SVG or CSV."""

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

    def drawn(sent: Any) -> int | None:
        points = [np.ravel(trace.get("customdata", [])).tolist() for trace in figure["data"]]
        return member(sent, [each for some in points for each in some])

    events = {} if on_choose is None else {"point": event(on_choose, drawn)}
    return Cell("chart", key or head.note, header, arrays, events)


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
