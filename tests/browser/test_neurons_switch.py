"""The Neurons page: the controls that switch neurons off, and a sentence to compare with."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

SENTENCE = "It cost forty pounds."


def test_the_controls_switch_and_the_url_follows(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, token="3")
    box = journey.page.get_by_label("Neurons to switch")
    box.fill("seven")
    expect(journey.text("This names no set of neurons.")).to_be_visible()
    assert box.input_value() == "seven"
    box.fill("1:0-2047")
    journey.settle()
    assert "With 2,048 neurons set to zero" in journey.sentence("switched")
    journey.page.get_by_role("radio", name="at the chosen token").click()
    journey.page.get_by_role("radio", name="fix to").click()
    journey.settle()
    amount = journey.page.get_by_role("spinbutton", name="fix to")
    amount.fill("0.25")
    amount.press("Enter")
    journey.settle()
    assert "With 2,048 neurons fixed to 0.25" in journey.sentence("switched")
    query = journey.query()
    assert (query["off"], query["do"], query["by"]) == ("1:0-2047", "fix", "0.25")
    assert query["where"] == "token"
    journey.press("Reset")
    assert "off" not in journey.query()
    journey.press("Switch the 10 that add most")
    # A click on the first bar takes that neuron out again.
    journey.chart("contributions").locator("ol button").first.click()
    journey.settle()
    assert "With 9 neurons" in journey.sentence("switched")


def test_what_was_measured_is_not_shown_of_another_edit(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, off="2:0-2047")
    journey.page.get_by_role("button", name="Try it on 2,000 hidden words").click()
    result = journey.text("hidden words of our probe sentences")
    expect(result).to_be_visible()
    journey.page.get_by_role("radio", name="multiply by").click()
    expect(result).to_have_count(0)


def test_another_sentence_is_compared_while_it_is_typed(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="compare", text=SENTENCE)
    journey.press("Try “The dog is …” and “The dogs are …”")
    journey.wait_for("The dog is in the house.").settle()
    box = journey.page.get_by_label("Second sentence")
    expect(box).to_have_value("The dogs are in the house.")
    box.fill("")
    expect(journey.text("Type a second sentence to compare")).to_be_visible()
    box.fill("It cost <b>sixty</b> pounds.")
    journey.settle()
    assert "differs most" in journey.sentence("compared")
    map_ = journey.chart("compared").locator(".heatmaplayer image").bounding_box()
    assert map_
    journey.page.mouse.click(map_["x"] + map_["width"] / 48, map_["y"] + map_["height"] / 2)
    journey.page.wait_for_url(lambda url: "neuron=relu-" in url and "part=" not in url)
