"""What all charts share: saving, parts and settings in the URL, sliders, the chosen token."""

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

import ffnviz
from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.lab.positions import try_positions
from ffnviz.models.encoder import linear
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SVG = "{http://www.w3.org/2000/svg}"
SENTENCE = "The <b>dog</b> & =1+1 ate."


def saved(journey: Journey, note: str, name: str) -> Path:
    """The file that an entry of a chart's menu brings."""
    expect(journey.chart(note)).to_have_attribute("data-painted", re.compile("."))
    with journey.page.expect_download() as download:
        journey.chart(note).get_by_role("button", name="Save or enlarge").click()
        journey.chart(note).get_by_role("button", name=name).click()
    path = download.value.path()
    assert download.value.suggested_filename.startswith(f"ffnviz-{note}.")
    return Path(path)


def test_a_chart_is_saved_as_png_with_its_sentence(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="awake")
    content = saved(journey, "awake", "Save as PNG").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (2 * 1280, 2 * 720)


def test_a_chart_is_saved_as_svg_with_its_sentence_and_typed_text_as_text(
    new_page: OpenPage,
) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="awake")
    svg = saved(journey, "awake", "Save as SVG").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "of the neurons are active" in svg
    labels = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert {"<", "b", "/", ">"} <= set(labels)  # the typed tags, as text on the axis


def test_the_numbers_of_a_chart_are_saved_as_csv(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="awake")
    text = saved(journey, "awake", "Save the numbers as CSV").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    n_tokens = journey.chips.count()
    assert len(rows) == 2 * 2 * 2 * n_tokens  # blocks, twins, trained and not
    shown = journey.chips.locator("small").all_inner_texts()
    block_2 = [float(row["y"]) for row in rows if row["series"] == "ReLU"][n_tokens:]
    assert shown == [f"{y:.{1 if y < 9.95 else 0}f}%" for y in block_2]


def test_a_map_that_draws_roots_saves_the_numbers_themselves(
    new_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = new_page().open_page("lab", text=SENTENCE, part="positions")
    text = saved(journey, "lab-maps", "Save the numbers as CSV").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    drawn = [float(row["value"]) for row in rows]
    model = ffnviz.load("relu")
    monkeypatch.setattr(linear, "_decided", [])

    def expected(onednn: bool) -> NDArray[np.float64]:
        linear.take_onednn(onednn)
        found = try_positions(Subject(model, model.trace(SENTENCE), 1, 0))
        assert found.attention is not None
        return np.concatenate([found.ffn.ravel(), found.attention.ravel()])

    # The server multiplies by the kernel that it measured to be quicker, not always the one here.
    assert any(np.allclose(drawn, expected(each), rtol=1e-5, atol=0) for each in (False, True))


def test_a_spreadsheet_gets_no_formula(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="keep")
    rows = journey.page.evaluate(
        """async () => {
            const address = "/_stcore/bidi-components/ffnviz.pictures/chart.js";
            const { rows } = await import(address);
            const { cell } = await import(address.replace("chart.js", "save_table.js"));
            const data = [{ name: "=1+1", x: [1], y: [2], text: ["+a,\\"b\\""] }];
            return rows(data, {}).map((row) => row.map(cell).join(","));
        }"""
    )
    assert rows[1] == '“=1+1”,,1,,2,,"“+a,""b""”"'


def test_a_menus_button_keeps_the_focus_while_its_chart_changes(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.", part="awake")
    button = journey.chart("awake").get_by_role("button", name="Save or enlarge")
    button.focus()
    stamp = journey.chart("awake").get_attribute("data-painted")
    journey.chips.nth(0).evaluate("(chip) => chip.click()")  # as another window's click would
    expect(journey.chart("awake")).not_to_have_attribute("data-painted", stamp or "")
    expect(button).to_be_focused()


def test_a_point_is_chosen_by_keyboard(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.", part="awake")
    chart = journey.chart("awake")
    expect(chart).to_have_attribute("data-painted", re.compile("."))
    chart.locator(".plot").focus()
    journey.page.keyboard.press("ArrowRight")
    expect(chart.get_by_role("status")).to_contain_text("The, ")
    journey.page.keyboard.press("Enter")
    chosen = journey.page.locator('.row [aria-pressed="true"] bdi')
    expect(chosen).to_have_text("The")


def test_the_parts_of_a_page_are_links(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.")
    assert "part" not in journey.query()
    journey.part("Active neurons").part("neurons that never fire")
    expect(journey.chart("never")).to_be_visible()
    assert journey.query()["part"] == "awake"
    assert journey.query()["training_view"] == "never"
    journey.page.reload()
    journey.wait_for("The cat sat.")
    expect(journey.chart("never")).to_be_visible()
    for _ in range(2):
        journey.page.go_back()
        journey.settle()
    expect(journey.chart("bend").first).to_be_visible()


def test_the_sentence_goes_with_a_person_from_page_to_page(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.", twin="gelu", block="1")
    journey.page.get_by_role("link", name="Journey").click()
    journey.page.wait_for_url(lambda url: "sparsity" not in url)
    journey.wait_for("The cat sat.")
    assert journey.query()["twin"] == "gelu"
    assert journey.query()["block"] == "1"
    journey.page.get_by_role("link", name="Activation").click()
    journey.page.wait_for_url(lambda url: "sparsity" in url)
    journey.wait_for("The cat sat.")
    assert journey.query()["twin"] == "gelu"


def test_a_slider_follows_the_keyboard_and_stands_in_the_url(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.", part="keep")
    slider = journey.page.get_by_role("slider", name="Keep the strongest")
    assert slider.get_attribute("aria-valuetext") == "5%"
    before = journey.sentence("keep")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    journey.settle()
    assert slider.get_attribute("aria-valuetext") == "15%"
    assert journey.sentence("keep") != before
    assert journey.query()["keep"] == "15"
    journey.page.reload()
    journey.wait_for("The cat sat.")
    assert slider.get_attribute("aria-valuetext") == "15%"


def test_a_slider_dragged_fast_ends_where_it_was_let_go(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.", part="keep")
    slider = journey.page.get_by_role("slider", name="Keep the strongest")
    box = slider.bounding_box()
    assert box
    mouse = journey.page.mouse
    mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
    mouse.down()
    for step in range(60):
        mouse.move(box["x"] + box["width"] * (0.3 + 0.7 * step / 59), box["y"] + 5)
    mouse.up()
    journey.settle()
    assert slider.get_attribute("aria-valuetext") == "100%"
    assert journey.query()["keep"] == "100"
    assert "is off by 0%" in journey.sentence("keep")


def test_a_click_on_a_point_chooses_its_token(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.", part="awake")
    assert journey.page.locator('.row [aria-pressed="true"] bdi').inner_text() == "sat"
    box = journey.chart("awake").locator(".scatterlayer .point").first.bounding_box()
    assert box
    journey.click_at(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert journey.page.locator('.row [aria-pressed="true"] bdi').inner_text() == "The"


# What else a link may say: tests/state/test_settings.py.
@pytest.mark.parametrize(("value", "shown"), [("<b>", "5%"), ("1e9", "100%")])
def test_a_garbled_setting_is_as_if_there_were_none_and_one_beyond_is_at_its_end(
    new_page: OpenPage, value: str, shown: str
) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.", part="keep", keep=value)
    slider = journey.page.get_by_role("slider", name="Keep the strongest")
    assert slider.get_attribute("aria-valuetext") == shown
