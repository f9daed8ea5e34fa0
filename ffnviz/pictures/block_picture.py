"""A block as one picture: stations along the stream, a lane for each token, arcs where they mix."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell, Head, entry, event, one_of, place, to_data
from ffnviz.pictures.wording import Sentence, to_spans


@dataclass(frozen=True)
class MapStation:
    """One station."""

    name: str  # unique; "expand" and "compress" are drawn as such
    sign: str  # in the drawing
    title: str  # over its menu
    lit: bool  # whether the shown part is about it
    parts: Sequence[tuple[str, str]]  # title and page of those about it
    shown: int | None  # which of these is shown; None if it is another


def block_map_cell(
    stations: Sequence[MapStation],  # in order
    key: str,
    # gives the action for a part, by the places of its station and of itself
    on_go: Callable[[int, int], Any],
) -> Cell:
    """The map."""

    def go(sent: Any) -> Any:
        at = place(entry(sent, "station"), len(stations))
        to = None if at is None else place(entry(sent, "part"), len(stations[at].parts))
        return None if at is None or to is None else on_go(at, to)

    data = {"stations": [vars(station) for station in stations]}
    return Cell("block_map", key, data, events={"go": go})


COLUMNS = 128  # of a map at most; it is drawn about as wide


@dataclass(frozen=True)
class Strip:
    """One vector of the chosen token, shown in full."""

    sign: str  # before it, "+" or "=" or nothing
    title: str  # what it is
    values: NDArray[np.floating]  # (n,)
    scale: str  # strips of the same scale are drawn to the same largest magnitude


@dataclass(frozen=True)
class Station:
    """One station, with what a click on it shows."""

    name: str  # unique among the stations
    kind: str  # "stream", "norm", "attention", "cross", "ffn" or "sum"
    title: str  # what it is
    note: str  # a live number about the chosen token
    says: Sentence  # what it does to the chosen token
    output: NDArray[np.floating]  # of every token, (T, n)
    scale: str  # stations of the same scale share their largest magnitude
    strips: Sequence[Strip]  # the chosen token's vectors
    source: str | None = None  # of a sum, the station whose output is added
    weights: NDArray[np.floating] | None = None  # of an attention, (n_heads, T, S)
    hidden: NDArray[np.floating] | None = None  # of an FFN, (T, d_ff)
    doors: Sequence[str] = ()  # titles of the parts about it


@dataclass(frozen=True)
class BlockView:
    """What of the block is looked at."""

    station: str  # its name
    head: int  # of the attention, from 1; 0 is the mean of all
    token: int  # the chosen one
    # before, after: what leads to the block before and after, if there is one
    before: str = ""
    after: str = ""
    # ways the block can be built, by their ids; none where there is no choice
    variants: dict[str, str] = field(default_factory=dict)
    variant: str = ""  # the one that is shown


@dataclass(frozen=True)
class BlockActions:
    """What a person may ask for: each gives the action for what was chosen."""

    station: Callable[[str], Any]  # with its name
    head: Callable[[int], Any]  # with its number, 0 for the mean
    token: Callable[[int], Any]  # with its place
    block: Callable[[int], Any]  # with −1 for the one before, 1 for the one after
    variant: Callable[[str], Any] = lambda _: None  # with its id
    door: Callable[[str, int], Any] = lambda _, __: None  # a station's name, and a door's place


def block_cell(
    head: Head,  # above the picture; its accent is the chosen token's
    stations: Sequence[Station],  # in order
    words: Sequence[str],  # the tokens as typed
    asked: Sequence[str],  # the tokens that a cross-attention attends to, as typed
    view: BlockView,  # what of it is looked at
    key: str,
    actions: BlockActions,  # what a person may ask for
) -> Cell:
    """The block from left to right (top to bottom where it is narrow), and one station."""
    names = [station.name for station in stations]
    n_heads = max((len(s.weights) for s in stations if s.weights is not None), default=0)

    def turn(way: int) -> Any:
        return actions.block((-1, 1)[way]) if (view.before, view.after)[way] else None

    def entered(sent: Any) -> Any:
        name = one_of(entry(sent, "station"), names)
        doors = next((each.doors for each in stations if each.name == name), ())
        at = place(entry(sent, "door"), len(doors))
        return None if name is None or at is None else actions.door(name, at)

    arrays: dict[str, NDArray[Any]] = {}
    header = {
        **vars(view),
        "stations": [_described(station, stations, arrays) for station in stations],
        "words": list(words),
        "asked": list(asked),
        "chosen_head": view.head,
        "variants": [[name, text] for name, text in view.variants.items()],
        "head": head.to_json(),
        "accent": head.accent,
    }
    events = {
        "station": event(actions.station, one_of, names),
        "heed": event(actions.head, place, n_heads + 1),
        "token": event(actions.token, place, len(words)),
        "block": event(turn, place, 2),
        "door": entered,
        "variant": event(actions.variant, one_of, list(view.variants)),
    }
    return Cell("block_picture", key, header, arrays, events)


def _described(
    station: Station, stations: Sequence[Station], arrays: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    """A station as JSON values, its numbers put into `arrays`."""
    name = station.name
    arrays[f"map.{name}"] = pooled(station.output).astype(np.float16)
    arrays[f"norms.{name}"] = np.linalg.norm(station.output, axis=1).astype(np.float32)
    if station.weights is not None:
        arrays[f"weights.{name}"] = station.weights.astype(np.float16)
    if station.hidden is not None:
        arrays["map.hidden"] = pooled(station.hidden).astype(np.float16)
    strips = [strip for each in stations for strip in each.strips]
    for number, strip in enumerate(station.strips):
        arrays[f"strip.{name}.{number}"] = strip.values.astype(np.float32)
    return {
        **to_data(station, "scale", "weights", "hidden"),
        "says": to_spans(station.says),
        "largest": max(_largest(s.output) for s in stations if s.scale == station.scale),
        "largest_hidden": 0.0 if station.hidden is None else _largest(station.hidden),
        "n_heads": 0 if station.weights is None else len(station.weights),
        "strips": [
            {
                **to_data(strip, "scale"),
                "norm": float(np.linalg.norm(strip.values)),
                "largest": max(_largest(s.values) for s in strips if s.scale == strip.scale),
            }
            for strip in station.strips
        ],
    }


def pooled(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """At most COLUMNS columns, each the strongest of its neighbours. (T, n) → (T, ≤ COLUMNS)."""
    n = values.shape[1]
    width = -(-n // COLUMNS)
    padded = np.pad(values, ((0, 0), (0, -n % width))).reshape(len(values), -1, width)
    strongest = np.abs(padded).argmax(axis=2)[:, :, None]
    return np.take_along_axis(padded, strongest, axis=2)[:, :, 0]


def _largest(values: NDArray[np.floating]) -> float:
    return float(np.abs(values).max())
