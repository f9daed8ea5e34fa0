"""A class that looks at one view has its sheet made once; whoever is in none has their own."""

from dataclasses import replace

import pytest

import ffnviz
from ffnviz.app.main import sheet_of
from ffnviz.parts import PAGES
from ffnviz.parts.sheet import Sheet
from ffnviz.state.run import Run
from ffnviz.state.settings import Values
from tests.run_factory import run_of


@pytest.mark.parametrize(("in_class", "made"), [(True, 2), (False, 4)])
def test_a_sheet_is_made_once_for_a_class_and_each_of_its_views(in_class: bool, made: int) -> None:
    calls: list[Run] = []
    page = next(page for page in PAGES if page.name == "sparsity")
    part = page.parts[0]

    def counted(run: Run, values: Values) -> Sheet:
        calls.append(run)
        return part.sheet(run, values)

    watched = replace(part, sheet=counted)
    run = run_of(ffnviz.load("relu"), "The cat sat on the mat.", page="sparsity")
    other = replace(run, state=replace(run.state, token=2))
    sheets = [sheet_of(watched, in_class, each, Values()) for each in (run, run, other, other)]
    assert len(calls) == made
    assert (sheets[0] is sheets[1]) == in_class
    assert sheets[0] is not sheets[2]
