"""A block, small: lit where the shown part is, each station a menu of the parts about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import entry, place


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
    stations: Sequence[MapStation], key: str, on_go: Callable[[int, int], Any]
) -> Cell:
    """The map.

    Args:
        stations: in order.
        key: unique on the page.
        on_go: gives the action for a part, by the places of its station and of itself.
    """

    def go(sent: Any) -> Any:
        at = place(entry(sent, "station"), len(stations))
        to = None if at is None else place(entry(sent, "part"), len(stations[at].parts))
        return None if at is None or to is None else on_go(at, to)

    data = {"stations": [vars(station) for station in stations]}
    return Cell("block_map", key, data, events={"go": go})
