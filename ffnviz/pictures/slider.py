"""A slider that the page follows while it moves.

Streamlit's own reports a value only once it rests; this one reports as fast as the page answers,
and never faster.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ffnviz.pictures.declare import declare
from ffnviz.pictures.sent import entry, place

_mount = declare("slider")


def nearest(stops: Sequence[float], value: float, by_ratio: bool = False) -> int:
    """The stop closest to a value that may lie between two, as a link can have it.

    Args:
        stops: their values.
        value: any; above 0, as the stops must be, if ratios are to be compared.
        by_ratio: compare ratios instead of differences.
    """
    if by_ratio:
        return nearest([math.log(stop) for stop in stops], math.log(value))
    return min(range(len(stops)), key=lambda place: abs(stops[place] - value))


def slider(
    label: str,
    stops: Sequence[str],
    stop: int,
    key: str,
    on_choose: Callable[[int, bool], None],
) -> None:
    """Show a slider that moves from stop to stop.

    Args:
        label: what it sets.
        stops: how each value reads, the least first; any spacing, such as a logarithmic one.
        stop: the one it is at, from 0.
        key: unique on the page.
        on_choose: called with the stop, and whether the slider was let go there.
    """

    def moved() -> None:
        move = st.session_state[key].move
        chosen = place(entry(move, "stop"), len(stops))
        if chosen is not None:
            on_choose(chosen, entry(move, "done") is True)

    data: dict[str, Any] = {"label": label, "stops": list(stops), "stop": stop}
    _mount(data, key=key, on_move_change=moved)
