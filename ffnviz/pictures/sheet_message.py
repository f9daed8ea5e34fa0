"""The messages between a sheet in the browser and Python: by digests, each array is sent once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ffnviz.pictures.cell import Cell, digest_of, entry

KEPT = 256  # cells and arrays that sheet.js keeps


@dataclass
class Browser:
    """What the browser of a session has."""

    # of the cells and arrays it keeps, the last used last
    digests: dict[str, None] = field(default_factory=dict)
    # how many of the sheet's events were handled, by its own number in the browser
    handled: dict[str, int] = field(default_factory=dict)

    def lacks(self, digest: str) -> bool:
        """Whether a cell or array must be sent; from now on it counts as sent."""
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
    arrays, references, new = {}, {}, {}
    for cell in cells:
        packed = cell.packed()
        digests = {name: digest for name, (digest, _) in packed.items()}
        digest = digest_of(json.dumps([cell.picture, cell.data, digests]).encode())
        references[cell.key] = [digest, cell.picture, digests]
        if browser.lacks(digest):
            new[digest] = cell.data
        for array_digest, content in packed.values():
            if browser.lacks(array_digest):
                arrays[array_digest] = np.frombuffer(content, np.uint8)
    header = {
        "cells": references,
        "new": new,
        "heard": browser.handled,
        "shows": stamp,
        "kept": KEPT,
    }
    return header, arrays


def laid_out(
    rows: Sequence[Sequence[tuple[float, Sequence[Any]]]],
    above: Sequence[Cell] = (),
    side: Sequence[Cell] = (),
    below: Sequence[Cell] = (),
) -> dict[str, Any]:
    """Where cells stand, by their keys; a row has columns, each with its width and its cells."""

    def keys_of(cells: Sequence[Any]) -> list[str]:
        return [cell.key for cell in cells if isinstance(cell, Cell)]

    around = {"above": above, "side": side, "below": below}
    keys: dict[str, Any] = {place: keys_of(cells) for place, cells in around.items()}
    keys["rows"] = [[[width, keys_of(cells)] for width, cells in columns] for columns in rows]
    return keys


def new_events(browser: Browser, sent: Any) -> list[tuple[str, str, Any]]:
    """The events that were not handled yet; a browser sends each until it was answered."""
    sheet, events = str(entry(sent, "sheet"))[:32], entry(sent, "events")
    if entry(sent, "lost") is True:
        browser.digests.clear()
    new = []
    for each in events if isinstance(events, list) else ():
        number = entry(each, "number")
        if isinstance(number, int) and number > browser.handled.get(sheet, 0):
            browser.handled = {sheet: number}
            new.append((str(entry(each, "cell")), str(entry(each, "name")), entry(each, "value")))
    return new
