"""The Timing page measures at once and on request, and notices what is old."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "The cat sat on the mat."


def measured(new_page: OpenPage, part: str, repeats: str = "10") -> Journey:
    """The page with its first measurement, which waits for no press."""
    journey = new_page()
    journey.page.goto(f"{journey.address}/timing?text={SENTENCE}&part={part}&repeats={repeats}")
    journey.page.locator("figure[data-painted]").first.wait_for()
    return journey


def test_more_runs_can_be_asked_for(new_page: OpenPage) -> None:
    journey = measured(new_page, "stages")
    slider = journey.page.get_by_role("slider", name="runs of each")
    slider.focus()
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "20")
    journey.page.get_by_role("button", name="Measure").click()
    expect(journey.chart("stages").locator(".sentence")).to_contain_text("20 runs of each")
    assert journey.query()["repeats"] == "20"


def test_a_measurement_stays_while_one_looks_at_another_part(new_page: OpenPage) -> None:
    journey = measured(new_page, "products")
    before = journey.sentence("products")
    journey.page.get_by_role("radio", name="CPU and GPU").click()
    expect(journey.text("No GPU was found").or_(
        journey.page.get_by_role("button", name="Measure")).first).to_be_visible()  # fmt: skip
    journey.page.get_by_role("radio", name="matrix products").click()
    expect(journey.chart("products").locator(".sentence")).to_have_text(before)
    expect(journey.chart("products").locator(".bars .point")).to_have_count(6)
