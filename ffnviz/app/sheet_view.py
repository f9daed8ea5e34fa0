"""The one component that draws a part's sheet.

A cell travels once, and so does each of its arrays: what the browser has is known by digests, kept
for the session. A browser that has lost a cell (it was loaded anew while the session stayed, or a
message was overtaken by the next) asks, and gets all.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from ffnviz.app import measuring, training
from ffnviz.app.rail import rail_cell
from ffnviz.app.session import Session
from ffnviz.parts.sheet import Answer, Measured, Measurement, Row, Sheet, cells_of, resolved, row
from ffnviz.pictures.cell import Cell, digest_of
from ffnviz.pictures.payload import pack
from ffnviz.pictures.sent import entry
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values

KEPT = 256  # cells and arrays that sheet.js keeps


@cache
def _component() -> Callable[..., Any]:
    # Its cells stand in the page itself, whose style sheet then reaches their places.
    return st.components.v2.component("ffnviz.sheet", js="sheet_adapter.js", isolate_styles=False)


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


@dataclass(frozen=True)
class Frame:
    """What stands around a sheet.

    Attributes:
        above, below: cells, from top to bottom.
        side: cells at the left in a wide window, over the part's controls.
    """

    above: Sequence[Cell]
    below: Sequence[Cell] = ()
    side: Sequence[Cell] = ()


MakeSheet = Callable[[Run | None, Values], Sheet]


@dataclass(frozen=True)
class Drawing:
    """A sheet in its frame, as it is drawn for a state.

    Attributes:
        run: what it is of.
        rows: of the sheet.
        above, side: what stands over these, and beside them.
        cells: all there are.
        measurements: that stand on it, by name.
        stamp: what pictures say once they are painted.
    """

    run: Run | None
    rows: Sequence[Row]
    above: Sequence[Cell]
    side: Sequence[Cell]
    cells: Sequence[Cell]
    measurements: Mapping[str, Measurement[Any]]
    stamp: str


def draw(session: Session, make: MakeSheet, settings: Sequence[Setting[Any]], frame: Frame) -> None:
    """A sheet in its frame.

    Args:
        session: what a click asks is done there.
        make: makes the sheet, of a run and what is set.
        settings: the part's, whose controls stand on a sheet that names none.
        frame: what stands around it.
    """
    drawing = _drawing(session, make, settings, frame)

    def heard() -> None:
        events = _new_events(st.session_state["sheet"].event)
        for place, (key, name, value) in enumerate(events):
            # What was done just before may have changed what this one asks for.
            shown = _drawing(session, make, settings, frame) if place else drawing
            cell = next((each for each in shown.cells if each.key == key), None)
            if cell is not None and name in cell.events:
                _answer(session, shown, cell.events[name](value))

    header, arrays = _sent(drawing.cells, drawing.stamp)
    header["above"] = [cell.key for cell in drawing.above]
    header["side"] = [cell.key for cell in drawing.side]
    header["below"] = [cell.key for cell in frame.below]
    header["rows"] = [
        [
            [column.width, [cell.key for cell in column.cells if isinstance(cell, Cell)]]
            for column in each.columns
        ]
        for each in drawing.rows
    ]
    _component()(data=pack(header, arrays), key="sheet", on_event_change=heard)
    measuring.watch(drawing.measurements.values())


def _drawing(
    session: Session, make: MakeSheet, settings: Sequence[Setting[Any]], frame: Frame
) -> Drawing:
    run, values, when = session.run(), Values(session.state.settings), list[str]()

    def look(measurement: Measurement[Any]) -> Measured[Any] | None:
        result = None if run is None else measuring.result_of(measurement, run)
        when.append("" if result is None else result.when)
        return result

    sheet = make(run, values)
    whole = resolved(sheet, look)
    answered, note = st.session_state.get("note", (None, None))
    if note is not None and answered == session.state:  # whatever else is done, it goes
        whole.rows.insert(0, row(note))
    measurements = {each.name: each for each in whole.measurements}
    controls = settings if sheet.controls is None else sheet.controls
    rail = rail_cell(controls, values, measuring.with_buttons(measurements.values()))
    problems = [text_cell(f"problem-{n}", problem, tone="warning")
                for n, problem in enumerate(measuring.problems())]  # fmt: skip
    above, side = [*frame.above, *problems], [*frame.side, *([rail] if rail else [])]
    cells = [*above, *side, *cells_of(whole.rows), *frame.below]
    if len({cell.key for cell in cells}) < len(cells):
        raise ValueError("Two cells of a page have the same key.")
    stamp = "" if run is None else f"{run.stamp} {values} {' '.join(when)}"
    return Drawing(run, whole.rows, above, side, cells, measurements, stamp)


def _answer(session: Session, shown: Drawing, answer: Any) -> None:
    """Do what a cell's event asks for."""
    match answer:
        case None:
            pass
        case Answer():
            if answer.action is not None:
                session.do(answer.action)
            st.session_state["note"] = session.state, answer.note
        case ("measure", name):
            if shown.run is not None:
                measuring.start(shown.measurements[name], shown.run)
        case ("cancel", name):
            measuring.cancel(shown.measurements[name])
        case ("train", name, what, action):
            training.do(shown.measurements[name], what)
            session.do(action)
        case ("read", file, text):
            training.read(file, text)
        case (action, settled):
            if action is not None:
                session.do(action, settled)
        case _:
            session.do(answer)


def _browser() -> Browser:
    browser: Browser = st.session_state.setdefault("browser_has", Browser())
    return browser


def _sent(cells: Sequence[Cell], stamp: str) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The header, and what the browser lacks of the cells."""
    browser = _browser()
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


def _new_events(sent: Any) -> list[tuple[str, str, Any]]:
    """What was done since the last time; a browser sends what was not answered again."""
    browser, sheet, events = _browser(), str(entry(sent, "sheet"))[:32], entry(sent, "events")
    if entry(sent, "lost") is True:
        browser.digests.clear()
    new = []
    for each in events if isinstance(events, list) else ():
        number = entry(each, "number")
        if isinstance(number, int) and number > browser.heard.get(sheet, 0):
            browser.heard = {sheet: number}
            new.append((str(entry(each, "cell")), str(entry(each, "name")), entry(each, "value")))
    return new
