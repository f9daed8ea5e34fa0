"""Every part of every page: on a projector and a telephone, light and dark, for every eye."""

import json
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from ffnviz.page import Page, Part
from ffnviz.pages import PAGES
from tests.browser.conftest import PAINTED, Journey, OpenPage

START = "She opened the [MASK] and looked out."


def turned(journey: Journey, page: Page, part: Part) -> None:
    """Turn to a part, and wait for its pictures."""
    journey.page.get_by_role("radio", name=part.title, exact=True).click()
    journey.page.wait_for_timeout(300)  # a click has to reach the server first
    named = "" if part is page.parts[0] else part.name
    journey.page.wait_for_function(
        """(name) => (new URLSearchParams(location.search).get("part") ?? "") === name &&
        document.querySelector('[data-test-script-state="notRunning"]')""",
        arg=named,
    )
    if part.name != "devices":
        journey.page.wait_for_function(PAINTED, arg="")
    journey.page.wait_for_timeout(300)


def opened(journey: Journey, page: Page) -> Journey:
    """The page on the start sentence."""
    journey.page.goto(f"{journey.address}/{page.name}?text={START}&words=3&repeats=5")
    journey.page.locator(".row button").first.wait_for()
    return journey


def faults(journey: Journey, page: Page, fits: str) -> dict[str, Any]:
    """What is wrong with each part of a page: it does not fit, or axe complains."""
    found: dict[str, Any] = {}
    main = journey.page.locator('[data-testid="stMain"]')
    for part in page.parts:
        turned(journey, page, part)
        violations = Axe().run(journey.page).response["violations"]
        if not main.evaluate(fits) or violations:
            found[part.name] = violations or "it does not fit"
    return found


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_each_part_is_one_screen_in_the_dark_without_a_fault(
    new_page: OpenPage, page: Page
) -> None:
    journey = opened(new_page(dark=True), page)
    found = faults(journey, page, "(m) => m.scrollHeight <= m.clientHeight")
    assert found == {}, json.dumps(found, indent=1)[:6_000]


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_each_part_fits_a_telephone_without_a_fault(new_page: OpenPage, page: Page) -> None:
    journey = opened(new_page(width=390, height=844), page)
    found = faults(journey, page, "(m) => m.scrollWidth <= m.clientWidth")
    assert found == {}, json.dumps(found, indent=1)[:6_000]
