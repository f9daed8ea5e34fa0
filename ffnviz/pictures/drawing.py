"""A curve that a person draws: with the pointer, or with the arrow keys."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ffnviz.pictures.declare import declare
from ffnviz.pictures.sent import numbers

_mount = declare("drawing")


def drawing(
    label: str,
    values: Sequence[float],
    accent: str,
    key: str,
    on_draw: Callable[[list[float]], None],
) -> None:
    """Show the curve, to be drawn over.

    Args:
        label: what it is.
        values: at evenly spaced places, from -1 to 1.
        accent: which of them the curve has.
        key: unique on the page.
        on_draw: called with as many new values.
    """

    def drew() -> None:
        drawn = numbers(st.session_state[key].curve, len(values), -1.0, 1.0)
        if drawn is not None:
            on_draw(drawn)

    data: dict[str, Any] = {
        "label": label,
        "values": list(values),
        "accent": accent,
    }
    _mount(data, key=key, on_curve_change=drew)
