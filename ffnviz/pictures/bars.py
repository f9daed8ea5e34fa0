"""Words, or whatever has a name and a number, as bars in panels: they change in place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell, Head, event, member


@dataclass(frozen=True)
class Bars:
    """One list: a line has a name, a bar and a number."""

    title: str  # said above it; may have two lines
    names: Sequence[str]
    values: NDArray[np.floating]  # as many; bars of negative values go left from zero
    colour: str | Sequence[str]  # in the palette; or one for each bar
    ids: NDArray[np.integer] | None = None  # what a click on each line says
    marked: frozenset[str] = frozenset()  # names to stand out
    said: Sequence[str] = ()  # behind each number

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            **vars(self),
            "names": list(self.names),
            "values": [float(value) for value in self.values],
            "ids": None if self.ids is None else [int(each) for each in self.ids],
            "marked": [place for place, name in enumerate(self.names) if name in self.marked],
        }


def contributions_to(
    name: str, parts: Sequence[str], added: NDArray[np.floating], total: float, colour: str
) -> Bars:
    """What each part adds to a number, those that take from it to the left; last the number."""
    colours = [colour if value > 0 else "muted" for value in added]
    values = np.append(added, total)
    return Bars("", [*parts, name], values, [*colours, "text"], marked=frozenset({name}))


def replay_cell(
    head: Head,
    # what is said of each, and its panels; at least one
    moments: Sequence[tuple[str, Sequence[Bars]]],
    key: str,
    *,
    leads: bool = False,  # whether the number in the sentence is what the whole page is about
) -> Cell:
    """Bars at several moments, with a slider through them that needs no server."""
    last = bars_cell(head, moments[-1][1], key, leads=leads)
    recorded = [
        {"said": said, "panels": [panel.to_json() for panel in panels]} for said, panels in moments
    ]
    return replace(last, data={**last.data, "moments": recorded})


def bars_cell(
    head: Head,
    panels: Sequence[Bars],  # from left to right
    key: str = "",  # unique on the sheet; the note of its head if left out
    alt: str = "",  # the text alternative
    *,
    # what the numbers are, said below the bars; a "probability" is written in percent
    of: str = "probability",
    named: str = "word",  # what the names are, for a table that is saved
    leads: bool = False,  # whether the number in the sentence is what the whole page is about
    # gives the action for the id of a line that is clicked
    on_choose: Callable[[int], Any] | None = None,
) -> Cell:
    """Panels of bars, all on one scale."""
    data: dict[str, Any] = {
        "panels": [panel.to_json() for panel in panels],
        "of": of,
        "named": named,
        "alt": alt,
        "leads": leads,
        "head": head.to_json(),
    }
    ids = {each for panel in data["panels"] for each in panel["ids"] or ()}
    events = {} if on_choose is None else {"point": event(on_choose, member, ids)}
    return Cell("bars", key or head.note, data, events=events)
