"""The Neurons page: activations of one sentence in another's pass, and paths to later neurons."""

import csv
import io
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

FIRST, SECOND = "He drank a cup of [MASK].", "He read a book of [MASK]."


def test_a_click_on_the_map_patches_there_and_its_numbers_are_saved_with_names(
    new_page: OpenPage,
) -> None:
    journey = new_page().open_page("neurons", part="compare", text=FIRST, other=SECOND)
    journey.page.get_by_role("radio", name="patch").click()
    journey.settle()
    map_ = journey.chart("patch-map").locator(".heatmaplayer image").bounding_box()
    assert map_
    n = journey.chips.count()
    place = journey.chips.all_inner_texts().index("cup")
    x = map_["x"] + (place + 0.5) / n * map_["width"]
    journey.page.mouse.click(x, map_["y"] + map_["height"] / 4)
    journey.page.wait_for_url(lambda url: f"token={place + 1}" in url and "block=1" in url)
    assert journey.settle().query()["compare_view"] == "patch"
    assert journey.sentence("patched").startswith("A patch in block 1 at “cup”")
    told = re.search(r"moves the answer (\S+)% of the way", journey.sentence("patched"))
    assert told
    with journey.page.expect_download() as download:
        journey.chart("patch-map").get_by_role("button", name="Save or enlarge").click()
        journey.chart("patch-map").get_by_role("button", name="Save the numbers as CSV").click()
    rows = csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig")))
    table = {(row["y"], row["x"]): float(row["value"]) for row in rows}
    assert len(table) == 2 * n
    assert round(table["1", "cup"]) == round(float(told[1].replace("−", "-")))
    journey.page.get_by_role("radio", name="the stream").click()
    expect(journey.chart("patch-map").locator(".sentence")).to_contain_text("own token aside")


def test_a_path_leads_to_the_later_neuron(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="writes", text=FIRST, block="1")
    journey.page.get_by_role("radio", name="later neurons").click()
    journey.settle()
    bar = journey.chart("paths").get_by_role("button", name=re.compile("^2:")).first
    neuron = bar.inner_text().removeprefix("2:")
    bar.focus()
    journey.page.keyboard.press("Enter")
    journey.page.wait_for_url(lambda url: f"neuron=relu-{neuron}" in url and "block=2" in url)
