"""A slider that the page follows while it moves.

Streamlit's own reports a value only once it rests; this one reports as fast as the page answers,
and never faster.
"""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ffnviz.components.declare import declare

_mount = declare("slider")


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
        if move and 0 <= int(move["stop"]) < len(stops):
            on_choose(int(move["stop"]), bool(move["done"]))

    data: dict[str, Any] = {"label": label, "stops": list(stops), "stop": stop}
    _mount(data=data, key=key, on_move_change=moved)
