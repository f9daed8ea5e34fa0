"""The Vocabulary page: what is typed, clicked and taken over."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

SENTENCE = "She opened the [MASK] and looked out."


def test_by_chance_the_seed_decides(new_page: OpenPage) -> None:
    journey = new_page().open_page("vocabulary", text=SENTENCE, temperature="3")
    journey.page.get_by_role("radio", name="by chance").click()
    journey.settle()
    seed = journey.page.get_by_label("Seed").first
    picks = []
    for value in ("11", "12", "11"):
        seed.fill(value)
        seed.press("Enter")
        journey.settle()
        picks.append(journey.sentence("cut").rpartition("pick is ")[2])
    assert picks[0] == picks[2] != picks[1]
    assert journey.query()["seed"] == "11"


def test_a_written_word_can_be_looked_into(new_page: OpenPage) -> None:
    journey = new_page().open_page("vocabulary", text="The old man", part="write", words="6")
    assert journey.sentence("step").startswith("Word 6")
    bar = journey.chart("write").locator(".bars .point").nth(1).bounding_box()
    assert bar
    journey.click_at(bar["x"] + bar["width"] / 2, bar["y"] - 3)  # above the bar
    assert journey.sentence("step").startswith("Word 2")
    assert journey.query()["step"] == "2"


def test_the_written_text_goes_into_the_box(new_page: OpenPage) -> None:
    journey = new_page().open_page("vocabulary", text="The old man", part="write", words="3")
    words = journey.sentence("write").partition("” ")[2].replace(",", " ,").split()
    journey.page.get_by_role("button", name="Use as my sentence").click()
    expect(journey.box).not_to_have_value("The old man")
    assert journey.box.input_value().replace(",", " ,").split() == ["The", "old", "man", *words]
