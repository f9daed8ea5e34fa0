"""The Neurons page: a neuron planted for a token, and how far it spreads."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

SENTENCE = "She opened the [MASK] and looked out."


def test_a_word_is_planted_spreads_and_comes_back_by_its_link(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="plant", text=SENTENCE)
    box = journey.page.get_by_label("A word for the new neuron")
    for typed in ("xyzzy", "<b>x</b>", ""):
        box.fill(typed)
        expect(journey.text("This word cannot be inserted.")).to_be_visible()
        assert box.input_value() == typed
    box.fill("elephant")
    box.press("Enter")
    journey.settle()
    journey.slide("strength", 9).slide("similarity", 4)
    query = journey.query()
    assert (query["plant"], query["strength"], query["choosy"]) == ("elephant", "3", "0.2")
    assert "elephant" in journey.sentence("planted")
    assert "7 of the 7 other tokens" in journey.sentence("planted-here")
    journey.press("Try it on other sentences")
    expect(journey.text("the inserted neuron's word")).to_be_visible()
    expect(journey.page.locator(".passages li")).to_have_count(10)
    again = new_page().open_page("neurons", **query)
    assert again.sentence("planted") == journey.sentence("planted")
