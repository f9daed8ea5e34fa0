"""Every token × every hidden neuron, one map a twin, on canvases that never blink."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ffnviz.components.declare import declare
from ffnviz.components.head import Head
from ffnviz.components.payload import as_order
from ffnviz.components.sent import entry, one_of, place

_mount = declare("activation_map")


@dataclass(frozen=True)
class ActivationMap:
    """One map.

    Attributes:
        name: the network's id.
        label: the network's name as written.
        colour: its accent: a name in the palette, or "#rrggbb".
        note: said beside the label, for example the share awake.
        hidden: (T, d_ff), in the order of the weights.
        order: (d_ff,), the neuron to draw at each place.
    """

    name: str
    label: str
    colour: str
    note: str
    hidden: NDArray[np.floating]
    order: NDArray[np.integer]


def activation_maps(
    head: Head,
    maps: Sequence[ActivationMap],
    texts: Sequence[str],
    token: int,
    neuron: tuple[str, int],
    orders: Sequence[str],
    order: str,
    stamp: str,
    key: str,
    on_choose: Callable[[str, int], None],
    on_order: Callable[[str], None],
    on_open: Callable[[str, int, int], None],
) -> None:
    """Show the maps one over the other, all on one colour scale.

    A click (or Enter, after moving with the arrow keys) hands map name and neuron to `on_choose`
    before the page runs again. A double click (or Shift + Enter) hands map name, neuron and token
    to `on_open`.

    Args:
        head: what stands above them.
        maps: all of the same shape.
        texts: the tokens as typed, a row each.
        token: the row to mark.
        neuron: map name and neuron to mark.
        orders: in what orders neurons can stand.
        order: in which they do.
        stamp: told to the browser once painted.
        key: unique on the page.
        on_choose: called with map name and neuron.
        on_order: called with one of `orders`.
        on_open: called with map name, neuron and token.
    """
    d_ff = maps[0].hidden.shape[1]
    names = [shown.name for shown in maps]

    def named(click: Any) -> tuple[str, int] | None:
        name, chosen = one_of(entry(click, "map"), names), place(entry(click, "neuron"), d_ff)
        return None if name is None or chosen is None else (name, chosen)

    def clicked() -> None:
        chosen = named(st.session_state[key].neuron)
        if chosen is not None:
            on_choose(*chosen)

    def ordered() -> None:
        chosen = one_of(st.session_state[key].order, orders)
        if chosen is not None:
            on_order(chosen)

    def opened() -> None:
        cell = st.session_state[key].cell
        chosen, row = named(cell), place(entry(cell, "token"), len(texts))
        if chosen is not None and row is not None:
            on_open(*chosen, row)

    arrays: dict[str, NDArray[Any]] = {}
    for shown in maps:
        arrays[f"{shown.name}.hidden"] = shown.hidden.astype(np.float16)
        arrays[f"{shown.name}.order"] = as_order(shown.order)
    header = {
        "maps": [
            {"name": m.name, "label": m.label, "colour": m.colour, "note": m.note} for m in maps
        ],
        "texts": list(texts),
        "token": token,
        "neuron": {"map": neuron[0], "neuron": neuron[1]},
        "d_ff": d_ff,
        "largest": max(float(np.abs(m.hidden).max()) for m in maps),
        "orders": list(orders),
        "order": order,
        "head": head.to_json(),
        "stamp": stamp,
    }
    _mount(
        header,
        arrays,
        key=key,
        on_neuron_change=clicked,
        on_order_change=ordered,
        on_cell_change=opened,
    )
