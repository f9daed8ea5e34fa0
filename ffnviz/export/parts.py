"""A part of any page, rendered for nobody: the pictures that it would show."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from ffnviz.parts.part import MakeSheet, Navigator, Part
from ffnviz.parts.results import measured_at_once
from ffnviz.parts.sheet import cells_of, resolved
from ffnviz.pictures.declare import Collected, collected
from ffnviz.state.actions import Action, reduce
from ffnviz.state.run import Run
from ffnviz.state.settings import Values
from ffnviz.state.state import Catalog, State

LONGEST_S = 600


def pictures_of(
    part: Part, state: State, run_of: Callable[[State], Run], catalog: Catalog
) -> list[Collected]:
    """What a part shows of a state, in order; what it measures is measured at once.

    Args:
        part: of any page.
        state: what is looked at; settings of the part are part of it.
        run_of: what is computed for a state.
        catalog: what there is to be looked at.

    Raises:
        RuntimeError: if the part fails.
    """
    if part.sheet is not None:
        return _cells_of_sheet(part, part.sheet, state, run_of, catalog)
    pictures: list[Collected] = []
    held = [state]

    def do(action: Action, settled: bool = True) -> None:
        if settled:
            held[0] = reduce(held[0], action, catalog)

    def show() -> None:
        navigator = Navigator(lambda: held[0], do, lambda: run_of(held[0]))
        if part.follow is not None:
            part.follow(run_of(held[0]), navigator)
        with collected() as found:
            part.render(run_of(held[0]), navigator)
        pictures.extend(found)

    app = AppTest.from_function(_call, default_timeout=LONGEST_S, args=(show,)).run()
    if app.exception:
        raise RuntimeError(f"{part.title} could not be rendered: {app.exception[0].message}")
    return pictures


def _cells_of_sheet(
    part: Part, make: MakeSheet, state: State, run_of: Callable[[State], Run], catalog: Catalog
) -> list[Collected]:
    if part.follow is not None:
        action = part.follow(run_of(state), Values(state.settings))
        state = state if action is None else reduce(state, action, catalog)
    run = run_of(state)
    sheet = make(run, Values(state.settings))
    made = resolved(sheet, lambda each: measured_at_once(each, run))
    return [Collected(c.picture, c.key, c.data, c.arrays) for c in cells_of(made.rows)]


def _call(show):  # type: ignore[no-untyped-def]  # Streamlit runs this as a script of its own
    show()
