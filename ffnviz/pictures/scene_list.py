"""The scenes of one's own lecture: small pictures of them, to choose and to put in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import entry, event, place


@dataclass(frozen=True)
class ListedScene:
    """One scene."""

    title: str  # in a few words
    where: str  # the page and part that it shows
    sentence: str  # that it shows
    # a small picture of it, an address that begins with data:; empty if there is none
    thumbnail: str


def scene_list_cell(
    scenes: Sequence[ListedScene],
    chosen: int,
    key: str,
    on_choose: Callable[[int], None],
    on_move: Callable[[int, int], None],
) -> Cell:
    """Scenes, one below the other.

    Args:
        scenes: in their order.
        chosen: the one that is worked on.
        key: unique on the page.
        on_choose: called with the place of another one.
        on_move: called with the place of the scene that moves, and the place that it gets.
    """

    def moved(sent: Any) -> None:
        start, end = (place(entry(sent, name), len(scenes)) for name in ("from", "to"))
        if start is not None and end is not None:
            on_move(start, end)

    data = {"scenes": [vars(scene) for scene in scenes], "chosen": chosen}
    events = {"choose": event(on_choose, place, len(scenes)), "move": moved}
    return Cell("scene_list", key, data, events=events)
