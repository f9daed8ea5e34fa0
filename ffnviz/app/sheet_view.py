"""The one component that draws a part's sheet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from ffnviz.app import measuring, training
from ffnviz.app.rail import rail_cell
from ffnviz.app.session import Session
from ffnviz.app.visit import SHEET, visit
from ffnviz.parts.sheet import Answer, Measured, Measurement, Row, Sheet, cells_of, resolved, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.payload import pack
from ffnviz.pictures.sheet_message import laid_out, message, new_events
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values


@cache
def _component() -> Callable[..., Any]:
    # Its cells stand in the page itself, whose style sheet then reaches their places.
    return st.components.v2.component("ffnviz.sheet", js="adapter.js", isolate_styles=False)


@dataclass(frozen=True)
class Frame:
    """What stands around a sheet: cells from top to bottom."""

    above: Sequence[Cell]
    below: Sequence[Cell] = ()
    side: Sequence[Cell] = ()  # at the left in a wide window, over the part's controls
    emptied: bool = False  # whether there is no sentence: what was shown of the last one stays


MakeSheet = Callable[[Run | None, Values], Sheet]


@dataclass(frozen=True)
class Drawing:
    """A sheet in its frame, as it is drawn for a state."""

    run: Run | None
    rows: Sequence[Row]  # of the sheet
    above: Sequence[Cell]
    side: Sequence[Cell]
    cells: Sequence[Cell]  # all there are
    measurements: Mapping[str, Measurement[Any]]  # on the sheet, by name
    pale: Sequence[str]  # the keys of those that a newer result replaces
    stamp: str  # what pictures say once they are painted


def draw(session: Session, make: MakeSheet, settings: Sequence[Setting[Any]], frame: Frame) -> None:
    """Draw a sheet in its frame; a sheet that names no controls has those of the settings."""
    drawing = _drawing(session, make, settings, frame)
    measuring.leave_all_but(drawing.measurements)

    def on_event() -> None:
        # While a page is left, Streamlit may call this when nothing is there any more. What was not
        # received the browser sends again.
        sent = getattr(st.session_state.get(SHEET), "event", None)
        events = new_events(visit().browser, sent)
        for place, (key, name, value) in enumerate(events):
            # What was done just before may have changed what this one asks for.
            shown = _drawing(session, make, settings, frame) if place else drawing
            cell = next((each for each in shown.cells if each.key == key), None)
            if cell is not None and name in cell.events:
                _answer(session, shown, cell.events[name](value))

    header, arrays = message(visit().browser, drawing.cells, drawing.stamp)
    header |= laid_out(
        [[(column.width, column.cells) for column in each.columns] for each in drawing.rows],
        above=drawing.above,
        side=drawing.side,
        below=frame.below,
    )
    header |= {
        "pale": drawing.pale,
        "place": f"{session.state.page} {session.state.part}",
        "emptied": frame.emptied,
    }
    _component()(data=pack(header, arrays), key=SHEET, on_event_change=on_event)
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
    kept = visit().kept_results
    results = resolved(sheet, look, measuring.is_under_way, kept)
    noted, note = visit().note
    if note is not None and noted == session.state:  # whatever else is done, it goes
        results.rows.insert(0, row(note))
    measurements = {each.name: each for each in results.measurements}
    if run is not None:  # of what is not on the sheet any more nothing is kept
        for name in kept.keys() - measurements.keys():
            del kept[name]
    controls = settings if sheet.controls is None else sheet.controls
    rail = rail_cell(controls, values, measuring.with_buttons(measurements.values()))
    problems = [
        text_cell(f"problem-{n}", problem, tone="warning")
        for n, problem in enumerate(measuring.problems())
    ]
    above, side = [*frame.above, *problems], [*frame.side, *([rail] if rail else [])]
    cells = [*above, *side, *cells_of(results.rows), *frame.below]
    if len({cell.key for cell in cells}) < len(cells):
        raise ValueError("Two cells of a page have the same key.")
    stamp = "" if run is None else f"{run.stamp} {values} {' '.join(when)}"
    return Drawing(run, results.rows, above, side, cells, measurements, sorted(results.pale), stamp)


def _answer(session: Session, shown: Drawing, answer: Any) -> None:
    """Do what a cell's event asks for."""
    match answer:
        case None:
            pass
        case Answer():
            if answer.action is not None:
                session.do(answer.action)
            visit().note = session.state, answer.note
        case ("measure", name):
            if shown.run is not None:
                measuring.start(shown.measurements[name], shown.run)
        case ("cancel", name):
            measuring.cancel(shown.measurements[name])
        case ("train", name, "show", _):
            for network in training.opened(name)[:1]:
                session.show_next(network)
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
