"""The stages of the Journey's picture lead to the parts about them."""

import pytest

from ffnviz.parts import PAGES
from ffnviz.parts.journey import DOORS
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
