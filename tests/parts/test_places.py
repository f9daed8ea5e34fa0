"""Each part says where in the block it is, and each station leads to what is about it."""

import pytest

from ffnviz.app.page_controls import block_map
from ffnviz.models.encoder.model import load
from ffnviz.parts import PAGES
from ffnviz.parts.places import PLACES, STATIONS, parts_at
from ffnviz.state.actions import OpenPage
from tests.run_factory import run_of

WHOLE = ("journey", "learn")  # pages about the way through all of the network


def test_every_other_part_has_a_place_and_no_place_is_left_over() -> None:
    parts = {(page.name, part.name) for page in PAGES for part in page.parts}
    assert set(PLACES) == {(page, part) for page, part in parts if page not in WHOLE}
    assert {each for places in PLACES.values() for each in places} <= set(STATIONS)


@pytest.mark.parametrize("station", STATIONS)
def test_a_station_leads_to_what_is_about_it(station: str) -> None:
    page = next(each for each in PAGES if each.name == "sparsity")
    cell = block_map(page, page.part("bend"), run_of(load("relu"), "The [MASK] sat."))
    at = list(STATIONS).index(station)
    drawn = cell.data["stations"][at]
    assert drawn["lit"] == (station == "activation")
    assert drawn["parts"], "a station leads somewhere"
    titles = {(its.title, to.title): (to.name, its.name) for to, its in parts_at(station)}
    for place, (part, title) in enumerate(drawn["parts"]):
        assert cell.events["go"]({"station": at, "part": place}) == OpenPage(*titles[part, title])
    assert cell.events["go"]({"station": at, "part": len(drawn["parts"])}) is None
    assert cell.events["go"]({"station": 99, "part": 0}) is None
