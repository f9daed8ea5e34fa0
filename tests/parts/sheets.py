"""A part as a function: its sheet for a sentence and settings, and what stands on it."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from ffnviz.app.catalog import build_catalog
from ffnviz.app.rail import rail_cell
from ffnviz.app.session import network_sizes
from ffnviz.export.runs import followed
from ffnviz.parts import PAGES
from ffnviz.parts.sheet import Measured, Measurement, cells_of, measured_at_once, resolved
from ffnviz.pictures.cell import Cell
from ffnviz.state.run import Run
from ffnviz.state.run_factory import make_run
from ffnviz.state.settings import Values
from ffnviz.state.state import from_url


@dataclass(frozen=True)
class Drawn:
    """What a part shows."""

    cells: dict[str, Cell]  # by their keys
    controls: dict[str, dict[str, Any]]  # what the browser gets of each control, by its label
    rail: Cell | None  # the cell that has them
    run: Run  # of the page

    def asked(self, event: str, sent: object) -> Any:
        """What the controls ask for."""
        assert self.rail is not None
        return self.rail.events[event](sent)

    def pressed(self, label: str) -> Any:
        """What a button asks for."""
        return self.asked("press", label)

    def moved(self, name: str, value: object) -> Any:
        """What a control asks for that was moved and let go."""
        return self.asked("move", {"name": name, "value": value, "done": True})

    @property
    def said(self) -> str:
        """All words: sentences above pictures and paragraphs."""
        return " ".join(words(cell) for cell in self.cells.values())


def drawn(
    page: str, part: str = "", measure: bool = True, *, device: str = "cpu", **query: str
) -> Drawn:
    """A part as a URL asks for it; what it measures is measured at once, if wanted."""
    catalog = build_catalog()
    state = from_url(page, {"part": part, **query}, catalog)
    shown = next(each for each in PAGES if each.name == state.page).part(state.part)
    run_of = partial(make_run, device=device, networks=network_sizes())
    state = followed(shown, state, run_of, catalog)
    run = run_of(state)
    values = Values(state.settings)
    sheet = shown.sheet(run, values)

    def look(measurement: Measurement[Any]) -> Measured[Any] | None:
        wanted = measure and not measurement.on_request
        return measured_at_once(measurement, run) if wanted else None

    made = resolved(sheet, look)
    rail = rail_cell(
        shown.settings if sheet.controls is None else sheet.controls,
        values,
        {each.name: (each, False) for each in made.measurements},
    )
    controls = {each["label"]: each for each in rail.data["controls"]} if rail else {}
    return Drawn({cell.key: cell for cell in cells_of(made.rows)}, controls, rail, run)


def words(cell: Cell) -> str:
    """What a cell says above its picture, below it, or by itself."""
    head = cell.data.get("head") or {"spans": [], "under": []}
    paragraphs = cell.data.get("paragraphs", [])
    return "\n".join(
        "".join(text for text, _ in spans)
        for spans in (head["spans"], head["under"], *paragraphs)
        if spans
    )
