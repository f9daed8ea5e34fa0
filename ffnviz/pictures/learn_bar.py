"""The buttons that start, pause and replay a training, and how far it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import event, one_of, place

REQUESTS = ("train", "pause", "step", "go", "stop", "show")


@dataclass(frozen=True)
class Progress:
    """How far a training is."""

    status: str  # "new", "waits", "runs", "paused" or "ended"
    at: int  # the place of the moment that is shown, from 0
    moments: int  # how many there are
    most: int  # how many there will be
    said: str  # how far it is, in words
    label: str  # on the button that begins it
    why_not: str = ""  # why it cannot begin; empty if it can


def learn_bar_cell(
    key: str,
    progress: Progress,
    on_ask: Callable[[str], Any],
    on_move: Callable[[int], Any],
    file: tuple[str, bytes] | None = None,
    *,
    can_show: bool = False,
) -> Cell:
    """The buttons, and a slider back through what was recorded.

    Args:
        key: unique on the sheet.
        progress: how far the training is.
        on_ask: gives the action for one of REQUESTS.
        on_move: gives the action for the place of a moment.
        file: name and content of what can be saved.
        can_show: whether all pages can show it.
    """
    data = {**vars(progress), "file": file and file[0], "can_show": can_show and bool(file)}
    arrays = {"file": np.frombuffer(file[1], np.uint8)} if file else {}
    events = {
        "ask": event(on_ask, one_of, REQUESTS),
        "move": event(on_move, place, progress.moments),
    }
    return Cell("learn_bar", key, data, arrays, events)
