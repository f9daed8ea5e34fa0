"""The Neurons page: a neuron named, and every part on any sentence."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

SENTENCE = "It cost forty pounds."


def test_a_name_is_tested_on_sentences_held_back_and_kept_in_the_url(
    new_page: OpenPage, tmp_path: Path
) -> None:
    journey = new_page().open_page("neurons", part="name", text=SENTENCE, neuron="relu-469")
    name = journey.page.get_by_label("Your name for neuron 2:469")
    name.fill("<i>verbs</i> | of being")
    name.press("Enter")
    journey.page.get_by_role("radio", name="words of my own").click()
    journey.settle()
    words = journey.page.get_by_label("Words, with commas between them")
    words.fill("is, has")
    words.press("Enter")
    journey.settle()
    sentence = journey.sentence("named")
    assert "“<i>verbs</i> | of being”: " in sentence
    right, named, found, fires = map(int, re.findall(r"(\d+) of the (\d+)", sentence)[0]
                                     + re.findall(r"(\d+) of the (\d+)", sentence)[1])  # fmt: skip
    assert right == found <= min(named, fires)
    journey.press("Keep this name")
    assert "469" in journey.query()["names"]
    with journey.page.expect_download() as download:
        journey.page.get_by_role("button", name="Export names").click()
    download.value.save_as(tmp_path / "names.json")
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert "469" in journey.query()["names"]

    other = new_page().open_page("neurons", part="name", text=SENTENCE, neuron="relu-1")
    other.press("Import names")
    other.page.locator('input[type="file"]').set_input_files(tmp_path / "names.json")
    other.page.wait_for_url(re.compile("469"))
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    other.page.reload()  # whether the box for files stays open is Streamlit's affair
    other.wait_for(SENTENCE)
    other.press("Import names")
    other.page.locator('input[type="file"]').set_input_files(tmp_path / "bad.json")
    expect(other.page.get_by_text("The names could not be taken over.")).to_be_visible()
    expect(other.page.get_by_test_id("stException")).to_have_count(0)


def test_a_tag_of_nobody_and_garbled_names_take_their_defaults(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="name", text=SENTENCE, tag="nonsense",
                                   names="{{", level="7", guess="x")  # fmt: skip
    expect(journey.page.get_by_test_id("stException")).to_have_count(0)
    assert "kept for the test" in journey.sentence("named") or "are correct" in journey.sentence(
        "named"
    )
