"""The Timing page measures at once and on request, says where and when, and notices what is old."""

import re

import pytest
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


def numbers(sentence: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+\.\d+", sentence)]


def test_the_stages_are_measured_without_a_press(new_page: OpenPage) -> None:
    journey = measured(new_page, "stages")
    sentence = journey.sentence("stages")
    assert "10 runs of each" in sentence
    ffn, total, whole, lower, upper = numbers(sentence)
    assert ffn < total
    assert lower <= whole <= upper
    expect(journey.page.get_by_text(re.compile(r"Measured at .* on .*PyTorch"))).to_be_visible()
    # Two blocks of eight stages, and tokenise, embed, final norm, output.
    expect(journey.chart("stages").locator(".bars .point")).to_have_count(20)


def test_an_old_measurement_says_so_until_measured_again(new_page: OpenPage) -> None:
    journey = measured(new_page, "stages")
    note = journey.page.get_by_text("This was measured for another sentence or setting")
    expect(note).to_have_count(0)
    journey.chips.nth(1).click()  # another token of the same sentence changes nothing
    journey.answered()
    expect(note).to_have_count(0)
    journey.box.fill("Another sentence altogether.")
    journey.box.press("Enter")
    expect(note).to_be_visible()
    journey.page.get_by_role("button", name="Measure").click()
    expect(note).to_have_count(0)


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
    expect(journey.page.get_by_text("No GPU was found").or_(
        journey.page.get_by_role("button", name="Measure")).first).to_be_visible()  # fmt: skip
    journey.page.get_by_role("radio", name="How fast the products are").click()
    expect(journey.chart("products").locator(".sentence")).to_have_text(before)
    expect(journey.chart("products").locator(".bars .point")).to_have_count(6)


def test_growth_is_measured_for_both_sizes(new_page: OpenPage) -> None:
    journey = measured(new_page, "growth")
    for note, count in (("growth", 4), ("width", 2)):
        expect(journey.chart(note).locator(".scatterlayer .trace")).to_have_count(count)
        assert min(numbers(journey.sentence(note))) > 1


def test_the_convolution_differs_by_rounding_only(new_page: OpenPage) -> None:
    journey = measured(new_page, "convolution")
    sentence = journey.sentence("convolution")
    assert re.search(r"at most (0|\d × 10⁻[⁴-⁹]) in outputs", sentence), sentence


@pytest.mark.parametrize(("value", "shown"), [("x", "50"), ("0", "5"), ("99999999", "1,000")])
def test_a_garbled_number_of_runs_is_the_usual_one_and_one_beyond_is_the_nearest(
    new_page: OpenPage, value: str, shown: str
) -> None:
    journey = new_page()
    journey.page.goto(f"{journey.address}/timing?text={SENTENCE}&repeats={value}")
    slider = journey.page.get_by_role("slider", name="runs of each")
    expect(slider).to_have_attribute("aria-valuetext", shown)
