"""What travels between a sheet in the browser and whoever draws it; sheet.js is the other end.

A cell travels once, and so does each of its arrays: what the browser has is known by digests. A
browser that has lost a cell (it was loaded anew, or a message was overtaken by the next) asks, and
gets all.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ffnviz.pictures.cell import Cell, digest_of
from ffnviz.pictures.sent import entry

KEPT = 256  # cells and arrays that sheet.js keeps


@dataclass
class Browser:
    """What the browser of a session has.

    Attributes:
        digests: of the cells and arrays it keeps, the last used last.
        heard: by the sheet's own number in the browser: how many of its events were handled.
    """

    digests: dict[str, None] = field(default_factory=dict)
    heard: dict[str, int] = field(default_factory=dict)

    def lacks(self, digest: str) -> bool:
        """Whether it must be sent; it is then taken for sent."""
        known = digest in self.digests
        self.digests.pop(digest, None)
        self.digests[digest] = None
        while len(self.digests) > KEPT:
            del self.digests[next(iter(self.digests))]
        return not known


def message(
    browser: Browser, cells: Sequence[Cell], stamp: str
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The header, and what the browser lacks of the cells."""
    arrays, named, new = {}, {}, {}
    for cell in cells:
        packed = cell.packed()
        digests = {name: digest for name, (digest, _) in packed.items()}
        digest = digest_of(json.dumps([cell.picture, cell.data, digests]).encode())
        named[cell.key] = [digest, cell.picture, digests]
        if browser.lacks(digest):
            new[digest] = cell.data
        for known, each in packed.values():
            if browser.lacks(known):
                arrays[known] = np.frombuffer(each, np.uint8)
    header = {"cells": named, "new": new, "heard": browser.heard, "shows": stamp, "kept": KEPT}
    return header, arrays


def laid_out(
    rows: Sequence[Sequence[tuple[float, Sequence[Any]]]],
    above: Sequence[Cell] = (),
    side: Sequence[Cell] = (),
    below: Sequence[Cell] = (),
) -> dict[str, Any]:
    """Where cells stand, by their keys.

    Args:
        rows: from top to bottom: columns, each with its width and its cells.
        above: what stands above these.
        side: what stands beside them.
        below: what stands below them.
    """
    around = {"above": above, "side": side, "below": below}
    keys: dict[str, Any] = {place: [cell.key for cell in cells] for place, cells in around.items()}
    keys["rows"] = [
        [
            [width, [cell.key for cell in cells if isinstance(cell, Cell)]]
            for width, cells in columns
        ]
        for columns in rows
    ]
    return keys


def new_events(browser: Browser, sent: Any) -> list[tuple[str, str, Any]]:
    """What was done since the last time; a browser sends what was not answered again."""
    sheet, events = str(entry(sent, "sheet"))[:32], entry(sent, "events")
    if entry(sent, "lost") is True:
        browser.digests.clear()
    new = []
    for each in events if isinstance(events, list) else ():
        number = entry(each, "number")
        if isinstance(number, int) and number > browser.heard.get(sheet, 0):
            browser.heard = {sheet: number}
            new.append((str(entry(each, "cell")), str(entry(each, "name")), entry(each, "value")))
    return new
