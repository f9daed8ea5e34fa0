"""The cells of a part's sheet for a file, with its measurements made."""

from collections.abc import Callable
from typing import Any

from ffnviz.parts.part import Part
from ffnviz.parts.results import measured_at_once
from ffnviz.parts.sheet import Measured, Measurement, cells_of, resolved
from ffnviz.pictures.cell import Cell
from ffnviz.state.actions import reduce
from ffnviz.state.run import Run
from ffnviz.state.settings import Values
from ffnviz.state.state import Catalog, State


def followed(part: Part, state: State, make_run: Callable[[State], Run], catalog: Catalog) -> State:
    """The state after the part has set what follows from the run."""
    if part.follow is None:
        return state
    action = part.follow(make_run(state), Values(state.settings))
    return state if action is None else reduce(state, action, catalog)


def cells_shown(
    part: Part, state: State, make_run: Callable[[State], Run], catalog: Catalog
) -> list[Cell]:
    """All cells of a part's sheet, in order; its measurements are made at once.

    Nothing is trained: shown is a recorded training, or what stands before one.
    """
    state = followed(part, state, make_run, catalog)
    run = make_run(state)
    sheet = part.sheet(run, Values(state.settings))

    def look(measurement: Measurement[Any]) -> Measured[Any] | None:
        if not measurement.live:
            return measured_at_once(measurement, run)
        recorded = measurement.recorded
        return Measured(measurement.setup, recorded(), "", "") if recorded else None

    return list(cells_of(resolved(sheet, look).rows))
