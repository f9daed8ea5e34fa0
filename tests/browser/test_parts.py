"""Every part of every page: on a projector and a telephone, light and dark, for every eye."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe

from ffnviz.pages import PAGES
from tests.browser.conftest import Journey, OpenPage

START = "She opened the [MASK] and looked out."
PRESSED = {("lab", "claims"): "Test all claims", ("lab", "fit"): "Fit",
           ("lab", "hears"): "Differentiate"}  # fmt: skip
PARTS = [(page.name, part.name) for page in PAGES[1:] for part in page.parts]


def shown(journey: Journey, page: str, part: str) -> Journey:
    """The part with its pictures, measured or written where that takes a press."""
    journey.page.goto(f"{journey.address}/{page}?part={part}&text={START}&words=3&repeats=5")
    journey.page.locator(".row button").first.wait_for()
    if page == "timing" and part != "devices":
        journey.page.get_by_role("button", name="Measure").click()
    if (page, part) in PRESSED:
        journey.page.get_by_role("button", name=PRESSED[page, part], exact=True).click()
        journey.page.locator(".verdicts[data-painted]").wait_for()
    elif part != "devices":
        journey.page.locator("figure[data-painted]").first.wait_for()
    journey.page.wait_for_timeout(500)
    return journey


@pytest.mark.parametrize(("page", "part"), PARTS)
def test_a_part_is_one_screen_in_the_dark_without_a_fault(
    new_page: OpenPage, page: str, part: str
) -> None:
    journey = shown(new_page(dark=True), page, part)
    main = journey.page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollHeight <= m.clientHeight")
    found = Axe().run(journey.page).response["violations"]
    assert found == [], json.dumps(found, indent=1)[:4_000]


@pytest.mark.parametrize(("page", "part"), PARTS)
def test_a_part_fits_a_telephone_without_a_fault(new_page: OpenPage, page: str, part: str) -> None:
    journey = shown(new_page(width=390, height=844), page, part)
    main = journey.page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth <= m.clientWidth")
    found = Axe().run(journey.page).response["violations"]
    assert found == [], json.dumps(found, indent=1)[:4_000]
