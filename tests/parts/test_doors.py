"""The stages of the Journey's picture and the Block's stations lead to the parts about them."""

import pytest

from ffnviz.parts import PAGES
from ffnviz.parts.block import block_view
from ffnviz.parts.journey.ffn import DOORS
from ffnviz.state.actions import OpenPage
from tests.parts.sheets import drawn


@pytest.mark.parametrize("stage", DOORS)
def test_a_door_leads_to_a_part_by_its_title(stage: str) -> None:
    title, page, part = DOORS[stage]
    titles = {(each.name, its.name): its.title for each in PAGES for its in each.parts}
    assert titles[page, part] == title
    cell = drawn("journey", "journey").cells["ffn"]
    shown = {each["name"]: each["door"] for each in cell.data["stages"]}
    assert shown[stage] == title
    assert cell.events["door"](stage) == OpenPage(page, part)
    assert cell.events["door"]("elsewhere") is None


@pytest.mark.parametrize("part", ["block", "decoder"])
def test_each_station_of_the_block_has_doors_to_parts_by_their_titles(part: str) -> None:
    titles = {(its.title, to.name, its.name) for to in PAGES for its in to.parts}
    assert {each for doors in block_view.DOORS.values() for each in doors} <= titles
    cell = next(
        each for each in drawn("block", part).cells.values() if each.picture == "block_picture"
    )
    for station in cell.data["stations"]:
        wanted = next(d for kind, d in block_view.DOORS.items() if kind.value == station["kind"])
        assert station["doors"] == [title for title, _, _ in wanted]
        for at, (_, page, name) in enumerate(wanted):
            asked = {"station": station["name"], "door": at}
            assert cell.events["door"](asked) == OpenPage(page, name)
    assert cell.events["door"]({"station": "nowhere", "door": 0}) is None
    assert cell.events["door"]({"station": cell.data["stations"][0]["name"], "door": 9}) is None
