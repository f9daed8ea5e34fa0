"""Nothing jumps: whatever one clicks on, the other boxes of the page stay where they are."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from ffnviz.parts import PAGES
from ffnviz.parts.part import Page, Part
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey
from tests.browser.test_parts import MEASURED_MS, opened, turned, views

BOXES = Path(__file__).with_name("boxes.js").read_text(encoding="utf-8")
TOKENS = (1, 5, 0, 3)  # of “She opened the [MASK] and looked out.”; the last is hidden
NEURONS = (".clickable li:visible", ".card li button:visible", ".heads button:visible")
# What a view may change: the pictures, and the controls below it.
AROUND = {
    "bar",
    "chips",
    "network",
    "examples",
    "part-list",
    "block-map",
    "below",
    "footer",
    "rail",
}
OTHERS = re.compile("rail [a-z]+ [1-9]")  # the controls below the views
SLACK = 1  # pixels that rounding may make
INVITATION = '[data-cell$="-invitation"]'

Boxes = dict[str, list[int]]


def boxes(journey: Journey) -> Boxes:
    found: Boxes = journey.page.evaluate(BOXES)
    return found


def measured(journey: Journey) -> None:
    """Wait until nothing is measured any more."""
    journey.answered()
    expect(journey.page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=MEASURED_MS)
    journey.answered()


def moved(journey: Journey, act: Callable[[], object]) -> list[str]:
    """Which boxes are elsewhere after a click, or of another size, and by how much."""
    before = boxes(journey)
    act()
    measured(journey)
    after = boxes(journey)
    changes = {
        name: [b - a for a, b in zip(box, after[name], strict=True)] if name in after else None
        for name, box in before.items()
    }
    return [
        f"{name} {change or 'is gone'}"
        for name, change in changes.items()
        if change is None or max(map(abs, change)) > SLACK
    ]


def choices_of_views(journey: Journey, part: Part) -> list[Locator]:
    """The part's views but the one that is shown, and that at last."""
    if not any(setting.name.endswith("_view") for setting in part.settings):
        return []
    group = journey.page.locator('[data-cell="rail"] .control').first.locator("[role=radio]")
    return [group.nth(at) for at in (*range(1, group.count()), 0)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_click_on_a_token_a_neuron_a_view_or_a_question_mark_moves_another_box(
    new_page: OpenPage, page: Page
) -> None:
    journey = opened(new_page(width=1280, height=720), page)
    found: dict[str, list[str]] = {}
    for part, view in views(page):
        turned(journey, page, part, view)
        measured(journey)
        if page.name == "learn":  # its networks come as they are before their first step
            expect(journey.page.locator(INVITATION)).to_have_count(0, timeout=MEASURED_MS)
            journey.settle()
        where = f"{part.name} {view}".strip()
        for token in TOKENS:
            chip = journey.chips.nth(token)
            found[f"{where}: token {token}"] = moved(journey, chip.click)
        for button in journey.page.locator(".what:visible").all():
            found[f"{where}: ?"] = moved(journey, button.click)
            journey.page.keyboard.press("Escape")
        if not view:
            for at, choice in enumerate(choices_of_views(journey, part)):
                around = moved(journey, choice.click)
                found[f"{where}: view {at}"] = [
                    each for each in around if set(each.split()) & AROUND and not OTHERS.match(each)
                ]
        url = journey.page.url.partition("?")[0]
        for kind in NEURONS:
            target = journey.page.locator(kind)
            if target.count() < 2 or journey.page.url.partition("?")[0] != url:
                continue
            changes = moved(journey, target.nth(1).click)
            if journey.page.url.partition("?")[0] == url:  # it has not led to another page
                found[f"{where}: {kind}"] = changes
            else:
                journey.page.go_back()
                journey.answered()
    jumps = {what: changes for what, changes in found.items() if changes}
    assert jumps == {}, json.dumps(jumps, indent=1)[:4_000]
