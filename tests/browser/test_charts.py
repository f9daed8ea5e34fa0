"""What all charts share: saving, sliders, the chosen token, points by pointer and keys."""

import csv
import io
import re
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
from tests.browser.journey import box_of, middle

SVG = "{http://www.w3.org/2000/svg}"
SENTENCE = "The <b>dog</b> & =1+1 ate."


def test_a_chart_is_saved_as_png_svg_and_csv_and_shows_its_numbers(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="awake")
    content = journey.save("awake", "Save as PNG").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (2 * 1280, 2 * 720)
    svg = journey.save("awake", "Save as SVG").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "of the neurons are active" in svg
    labels = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert {"<", "b", "/", ">"} <= set(labels)  # the typed tags, as text on the axis
    text = journey.save("awake", "Save the numbers as CSV").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    n_tokens = journey.chips.count()
    assert len(rows) == 2 * 2 * 2 * n_tokens  # blocks, twins, trained and not
    shown = journey.chips.locator("small").all_inner_texts()
    block_2 = [float(row["y"]) for row in rows if row["series"] == "ReLU"][n_tokens:]
    assert shown == [f"{y:.{1 if y < 9.95 else 0}f}%" for y in block_2]
    journey.chart("awake").get_by_role("button", name="Save or enlarge").click()
    journey.chart("awake").get_by_role("button", name="Show the numbers").click()
    dialog = journey.page.get_by_role("dialog", name="Numbers")
    expect(dialog.locator("tbody tr")).to_have_count(len(rows))
    titles = dialog.locator("thead th").all_inner_texts()
    assert titles == [title for title in rows[0] if title in titles]
    value = dialog.locator("tbody tr").first.locator("td").nth(titles.index("y")).inner_text()
    assert value.replace("−", "-") in ",".join(rows[0].values())
    journey.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_map_that_draws_roots_saves_the_numbers_themselves(
    new_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = new_page().open_page("lab", text=SENTENCE, part="positions")
    text = journey.save("lab-maps", "Save the numbers as CSV").read_text(encoding="utf-8-sig")
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


def test_a_point_is_chosen_by_click_and_key_and_focus_is_kept(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="The cat sat.", part="awake")
    chart, chosen = journey.chart("awake"), journey.page.locator('.row [aria-pressed="true"] bdi')
    assert "numbers as a table" in (chart.locator(".plot").get_attribute("aria-label") or "")
    expect(chart).to_have_attribute("data-painted", re.compile("."))
    assert chosen.inner_text() == "sat"
    journey.click_at(*middle(chart.locator(".scatterlayer .point").first))
    assert chosen.inner_text() == "The"
    button = chart.get_by_role("button", name="Save or enlarge")
    button.focus()
    stamp = chart.get_attribute("data-painted")
    journey.chips.nth(2).evaluate("(chip) => chip.click()")  # as another window's click would
    expect(chart).not_to_have_attribute("data-painted", stamp or "")
    expect(button).to_be_focused()
    expect(chosen).to_have_text("sat")
    chart.locator(".plot").focus()
    journey.page.keyboard.press("ArrowRight")
    expect(chart.get_by_role("status")).to_contain_text("The, ")
    journey.page.keyboard.press("Enter")
    expect(chosen).to_have_text("The")


def test_a_slider_follows_keys_and_pointer_and_stands_in_the_url(new_page: OpenPage) -> None:
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
    # Dragged fast it ends where it was let go.
    box, mouse = box_of(slider), journey.page.mouse
    mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
    mouse.down()
    for step in range(60):
        mouse.move(box["x"] + box["width"] * (0.3 + 0.7 * step / 59), box["y"] + 5)
    mouse.up()
    journey.settle()
    assert slider.get_attribute("aria-valuetext") == "100%"
    assert journey.query()["keep"] == "100"
    assert "is off by 0%" in journey.sentence("keep")
