"""Two visitors who want something heavy: the second waits; a page says how far its own is."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

LONG = "The cat sat on the mat, the dog sat on the floor beside her, and nobody knew where she was."


def test_the_second_waits_for_the_first_and_goes_on_when_its_tab_is_closed(
    new_page: OpenPage,
) -> None:
    first, second = new_page(), new_page()
    first.page.goto(f"{first.address}/lab?text={LONG}&part=hears&length=24&depth=6")
    expect(first.page.get_by_text("Differentiating ten kinds of layers …")).to_be_visible()
    second.page.goto(f"{second.address}/lab?text={LONG}&part=hears&length=2&depth=1")
    expect(second.page.get_by_text("Waiting for 1 other …")).to_be_visible()
    first.page.close()
    second.chart("lab-influence").wait_for()
    assert "Over 2 tokens in 1 layer an RNN takes 2 sequential steps" in second.sentence(
        "lab-influence"
    )
    expect(second.page.get_by_text("Waiting for")).to_have_count(0)
