"""The table of each part's pictures says what the parts show, and leaves out no note."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from ffnviz.app.catalog import build_catalog
from ffnviz.lecture.lecture import PICTURES as NOTES
from ffnviz.parts import PAGES
from ffnviz.parts.part import Page
from ffnviz.parts.places import EVERYWHERE, OF_OTHERS, PICTURES, pictures_of
from ffnviz.parts.sheet import Measurement, Row, Soon
from ffnviz.pictures.cell import Cell
from ffnviz.state.run_factory import make_run
from ffnviz.state.settings import Values
from ffnviz.state.state import from_url

TEXT = "The king sat on his [MASK]."
OF_A_CLASS = {"class-neurons", "class-sentences"}
# What the twins, a CPU or a page before its training do not have.
ELSEWHERE = {*OF_OTHERS, "devices", "features", "paths", "paths-blocks"}


def noted(shown: Iterable[Any]) -> Iterator[str]:
    """The notes of what stands on a sheet, and of what will."""
    for each in shown:
        if isinstance(each, Row):
            yield from (name for column in each.columns for name in noted(column.cells))
        elif isinstance(each, Measurement):
            yield from noted(each.before)
        elif isinstance(each, Soon):
            yield each.note
        elif isinstance(each, Cell) and (each.data.get("head") or {}).get("note"):
            yield each.data["head"]["note"]


def test_each_note_is_of_a_part_or_of_a_class() -> None:
    of_parts = {*EVERYWHERE, *(name for names in PICTURES.values() for name in names)}
    assert of_parts | OF_A_CLASS == set(NOTES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_part_shows_what_the_table_says(page: Page) -> None:
    catalog = build_catalog()
    for part in page.parts:
        views = {view for at, name, view in PICTURES if (at, name) == (page.name, part.name)}
        choice = part.settings[0] if part.settings else None
        if views != {""}:
            assert choice is not None
            assert views == set(choice.options or ())
        for view in views:
            more = {choice.name: view} if view and choice else {}
            state = from_url(page.name, {"text": TEXT, "part": part.name, **more}, catalog)
            run = make_run(state, "cpu", catalog.networks)
            shown = set(noted(part.sheet(run, Values(state.settings)).rows))
            listed = {*pictures_of(state)} - {*EVERYWHERE}
            if page.name == "learn" or listed <= ELSEWHERE | {"writes"}:
                continue
            assert shown == listed, (part.name, view)
