"""What stands where a result will: the outline of its card, how far it is, and what stops it."""

from collections.abc import Callable
from typing import Any

from ffnviz.pictures.cell import Cell, Head


def waiting_cell(
    name: str,  # the measurement's, whose progress the browser is told while it is under way
    label: str,  # on the button that begins it
    doing: str,  # what is done meanwhile
    busy: bool,  # whether it is under way
    title: str = "",  # what will be seen here
    note: str = "",  # of the head of the picture that will stand here
    height: int = 0,  # the picture's
    *,
    other: bool = False,  # whether the old result is of another setup
) -> Cell:
    """A card to come; without a title, a line over an old result until the new one is there."""

    def asks(what: str) -> Callable[[Any], tuple[str, str]]:
        return lambda _: (what, name)

    data = {"name": name, "label": label, "doing": doing, "busy": busy, "height": height}
    data["other"] = "This is for another sentence or setting." if other else ""
    if title:
        data["head"] = Head(title, note, "muted").to_json()
    key = f"soon-{note}" if title else f"waiting-{name}"
    return Cell("waiting", key, data, events={each: asks(each) for each in ("measure", "cancel")})
