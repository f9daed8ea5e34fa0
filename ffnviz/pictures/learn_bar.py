"""What starts, pauses and replays a training, and says how far it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import one_of, place

ASKS = ("train", "pause", "step", "go", "stop", "show")


@dataclass(frozen=True)
class Progress:
    """How a training stands.

    Attributes:
        status: "new", "waits", "runs", "paused" or "ended".
        at: the place of the moment that is shown, from 0.
        moments: how many there are.
        most: how many there will be.
        said: how far it is, in words.
        label: on the button that begins it.
        why_not: why it cannot begin; empty if it can.
    """

    status: str
    at: int
    moments: int
    most: int
    said: str
    label: str
    why_not: str = ""


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
        progress: how it stands.
        on_ask: gives the action for one of ASKS.
        on_move: gives the action for the place of a moment.
        file: name and content of what can be saved.
        can_show: whether all pages can show it.
    """

    def asked(sent: Any) -> Any:
        what = one_of(sent, ASKS)
        return None if what is None else on_ask(what)

    def moved(sent: Any) -> Any:
        at = place(sent, progress.moments)
        return None if at is None else on_move(at)

    data = {**vars(progress), "file": file and file[0], "can_show": can_show and bool(file)}
    arrays = {"file": np.frombuffer(file[1], np.uint8)} if file else {}
    return Cell("learn_bar", key, data, arrays, {"ask": asked, "move": moved})
