"""Every token × every hidden neuron, one map a twin, on canvases that never blink."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell, Head, entry, event, one_of, place, to_data
from ffnviz.pictures.payload import as_numbers, as_order

QUANTILE = 0.995
TOWERING = 4.0  # times as large; a value at a quarter of the scale is still visible


def scale_end(values: Sequence[NDArray[np.floating]]) -> float:
    """The magnitude that the ends of a colour scale stand for: the largest, as a rule.

    The first token of many trained networks has values a hundred times as large as all others
    (Sun et al. 2024, "Massive Activations in Large Language Models", arXiv:2402.17762), beside
    which the others would look like zero. There the scale ends at a quantile of the others.
    The values of a picture are (T, n), a row a token, or (n,), of one token.
    """
    return max((_end_of(np.abs(each)) for each in values), default=0.0)


def _end_of(magnitude: NDArray[np.floating]) -> float:
    largest = float(magnitude.max(initial=0.0))
    others = magnitude
    if magnitude.ndim > 1 and len(magnitude) > 1:
        first = int(magnitude.max(axis=1).argmax())
        others = np.concatenate([magnitude[:first], magnitude[first + 1 :]])
    # As a rule many are tall, the quantile among them; counting costs a tenth of computing it.
    n, tall = np.count_nonzero(others > 0), np.count_nonzero(others > largest / TOWERING)
    if not n or tall >= n - np.floor((n - 1) * QUANTILE):
        return largest
    usual = float(np.quantile(others[others > 0], QUANTILE))
    return usual if largest > TOWERING * usual else largest


WIDE = 2_048  # hidden units; of a wider layer neighbours are sent as one where it would be long
MOST_BYTES = 180_000  # of such a map


@dataclass(frozen=True)
class ActivationMap:
    """One map."""

    name: str  # the network's id
    label: str  # the network's name as written
    colour: str  # its accent: a name in the palette, or "#rrggbb"
    note: str  # said beside the label, for example the share awake
    hidden: NDArray[np.floating]  # (T, d_ff), in the order of the weights
    order: NDArray[np.integer]  # (d_ff,), the neuron to draw at each place
    texts: Sequence[str]  # the tokens as typed, a row each
    token: int  # the row to mark
    # `hidden` as it is sent, rounded by PyTorch, which is twenty times quicker than NumPy
    half: NDArray[np.float16] | None = None


def maps_cell(
    head: Head,
    maps: Sequence[ActivationMap],  # each of a network, with its own tokens and neurons
    neuron: tuple[str, int],  # map name and neuron to mark
    orders: Sequence[str],  # in what orders neurons can stand
    order: str,  # in which they do
    key: str,
    on_choose: Callable[[str, int, int], Any],  # gives the action for map name, neuron and token
    on_order: Callable[[str], Any],  # gives the action for one of `orders`
    # gives the action for map name, neuron and token
    on_open: Callable[[str, int, int], Any] | None = None,
) -> Cell:
    """The maps one over the other, on one colour scale; a double click asks for `on_open`."""
    shapes = {shown.name: shown.hidden.shape for shown in maps}

    def pointed(sent: Any) -> tuple[str, int, int] | None:
        name = one_of(entry(sent, "map"), list(shapes))
        if name is None:
            return None
        neuron = place(entry(sent, "neuron"), shapes[name][1])
        row = place(entry(sent, "token"), shapes[name][0])
        return None if neuron is None or row is None else (name, neuron, row)

    arrays: dict[str, NDArray[Any]] = {}
    maps_json = []
    for shown in maps:
        column, d_ff, order_drawn = None, shown.hidden.shape[1], shown.order
        if d_ff > WIDE and 2 * shown.hidden.size > MOST_BYTES:
            half, neurons, column = _pooled(shown, neuron[1] if neuron[0] == shown.name else None)
            arrays[f"{shown.name}.neurons"] = as_numbers(neurons, d_ff)
            order_drawn = np.arange(half.shape[1])
        else:
            half = shown.hidden.astype(np.float16) if shown.half is None else shown.half
        arrays[f"{shown.name}.hidden"] = half
        arrays[f"{shown.name}.order"] = as_order(order_drawn)
        texts = list(shown.texts)
        maps_json.append({**to_data(shown, "half"), "texts": texts, "d_ff": d_ff, "column": column})
    largest = scale_end([shown.hidden for shown in maps])
    header = {
        "maps": maps_json,
        "neuron": {"map": neuron[0], "neuron": neuron[1]},
        "largest": largest,
        "beyond": bool(max(np.abs(m.hidden).max(initial=0) for m in maps) > largest),
        "orders": list(orders),
        "order": order,
        "stays": on_open is None,
        "head": head.to_json(),
    }
    events = {
        "neuron": event(lambda at: on_choose(*at), pointed),
        "order": event(on_order, one_of, orders),
        "cell": event(lambda at: on_open and on_open(*at), pointed),
    }
    return Cell("activation_map", key, header, arrays, events)


def _pooled(
    shown: ActivationMap, chosen: int | None
) -> tuple[NDArray[np.float16], NDArray[np.integer], int | None]:
    """Neighbours in the order as one column, the strongest: values, neurons (T, columns), place."""
    n_tokens, d_ff = shown.hidden.shape
    n_columns = max(1, min(d_ff, MOST_BYTES // (n_tokens * (2 + (2 if d_ff <= 2**16 else 4)))))
    edges = np.linspace(0, d_ff, n_columns + 1).astype(int)
    ordered = shown.hidden[:, shown.order]
    magnitude = np.abs(ordered)
    most = np.maximum.reduceat(magnitude, edges[:-1], axis=1)
    group = np.repeat(np.arange(n_columns), np.diff(edges))
    is_most = magnitude == most[:, group]
    at = np.where(is_most, np.arange(d_ff), d_ff)
    places = np.minimum.reduceat(at, edges[:-1], axis=1)
    values = np.take_along_axis(ordered, places, axis=1).astype(np.float16)
    column = None
    if chosen is not None:
        column = int(group[int(np.flatnonzero(shown.order == chosen)[0])])
    return values, shown.order[places], column
