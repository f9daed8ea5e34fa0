"""The quiet line under a picture: it takes its room from the picture, and typed text stays text."""

from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

from ffnviz.app.mounting import mount_cell
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.wording import quoted, typed
from tests.browser import shown
from tests.browser.conftest import OpenPage
from tests.browser.plain_page import PlainPage

LINE = "It reads “<b>phone” as <b>ph + one. "
UNDER = replace(shown.HEAD, under=f"It reads {quoted('<b>phone')} as {typed('<b>ph + one')}. ")


def show_chart(under: bool) -> None:
    head = UNDER if under else shown.HEAD
    cell = chart_cell(head, shown.figure(1), "Shares.", "chart", height=660)
    mount_cell(cell, f"chart {under}")


@pytest.mark.parametrize("high", [1080, 720])
def test_a_chart_with_a_line_under_it_is_as_high_as_without(plain: PlainPage, high: int) -> None:
    plain.page.set_viewport_size({"width": 1280, "height": high})
    whole = plain.hang("chart", lambda: show_chart(under=False)).locator("figure")
    before = whole.bounding_box()
    plain.update("chart", lambda: show_chart(under=True))
    plain.page.wait_for_function("painted('chart') === 'chart True'")
    line = whole.locator(".under")
    expect(line).to_have_text(LINE)
    after, text = whole.bounding_box(), line.bounding_box()
    assert before
    assert after
    assert text
    assert text["height"] > 15
    assert after["height"] == pytest.approx(before["height"], abs=1)
    plain.update("chart", lambda: show_chart(under=False))
    plain.page.wait_for_function("painted('chart') === 'chart False'")
    expect(line).to_have_count(0)


def test_what_was_typed_stays_text_below_the_bars(plain: PlainPage) -> None:
    panel = Bars("with", ["a", "b"], np.array([0.6, 0.4]), "relu")
    cell = bars_cell(UNDER, [panel], "bars")
    host = plain.hang("bars", lambda: mount_cell(cell, "bars"))
    expect(host.locator(".under")).to_have_text(LINE)
    expect(host.locator(".under bdi")).to_have_text(["<b>phone", "<b>ph + one"])
    bars, line = host.locator(".panels").bounding_box(), host.locator(".under").bounding_box()
    assert bars
    assert line
    assert line["y"] >= bars["y"] + bars["height"]


def test_the_guess_at_a_modern_sentence_says_what_the_network_has_read(new_page: OpenPage) -> None:
    page = new_page().open(text="My laptop ran out of [MASK]").page
    line = page.locator(".leads .under")
    expect(line).to_contain_text("It has read")
    expect(line).to_contain_text("“laptop” as la + pt + op")
