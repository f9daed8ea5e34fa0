"""The Neurons page: a neuron named, and the names as a file, both ways."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

SENTENCE = "It cost forty pounds."


def test_a_name_is_kept_in_the_url_and_goes_from_page_to_page_as_a_file(
    new_page: OpenPage, tmp_path: Path
) -> None:
    journey = new_page().open_page("neurons", part="name", text=SENTENCE, neuron="relu-469")
    journey.page.get_by_label("Your name for neuron 2:469").fill("<i>verbs</i> | of being")
    journey.settle()
    journey.page.get_by_role("radio", name="words of my own").click()
    journey.settle()
    journey.page.get_by_label("Words, with commas between them").fill("is, has")
    journey.settle()
    expect(journey.chart("named")).to_contain_text("“<i>verbs</i> | of being” is right about ")
    journey.press("Keep this name")
    assert "469" in journey.query()["names"]
    with journey.page.expect_download() as download:
        journey.page.get_by_role("button", name="Export names").click()
    download.value.save_as(tmp_path / "names.json")
    names = (tmp_path / "names.json").read_text(encoding="utf-8")
    (tmp_path / "names.json").write_text(names, encoding="utf-16")  # as an editor may save it
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert "469" in journey.query()["names"]

    other = new_page().open_page("neurons", part="name", text=SENTENCE, neuron="relu-1")
    with other.page.expect_file_chooser() as chooser:
        other.page.get_by_role("button", name="Import names").click()
    chooser.value.set_files(tmp_path / "names.json")
    other.page.wait_for_url(re.compile("names=[^&]*469"))
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    other.page.locator('input[type="file"]').set_input_files(tmp_path / "bad.json")
    expect(other.text("The names could not be imported.")).to_be_visible()
    other.page.get_by_role("button", name="relu 2:469").click()
    expect(other.page.get_by_label("Your name for neuron 2:469")).to_have_value(
        "<i>verbs</i> | of being"
    )
    expect(other.text("The names could not be imported.")).to_have_count(0)
    expect(other.page.get_by_test_id("stException")).to_have_count(0)
