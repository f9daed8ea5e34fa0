"""Every picture is read by keyboard, and speaks to those who do, but not to a mouse."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser import shown
from tests.browser.journey import box_of
from tests.browser.plain_page import PlainPage


def press(plain: PlainPage, *keys: str) -> None:
    for key in keys:
        plain.page.keyboard.press(key)


def hang_chart(plain: PlainPage, trace: Mapping[str, object], **layout: object) -> Locator:
    figure: dict[str, object] = {"data": [trace], "layout": {"margin": {"l": 60}, **layout}}
    return plain.hang("chart", lambda: shown.show_chart(1, figure))


def test_a_stage_of_the_ffn_is_walked_cell_by_cell(plain: PlainPage) -> None:
    values = np.random.default_rng(1)
    values.normal(size=shown.D_MODEL)
    pre = values.normal(size=shown.D_FF).astype(np.float16)
    picture = plain.hang("ffn", lambda: shown.show_ffn(1))
    columns = 12  # so that 256 cells are about twice as high as wide
    picture.locator('[data-stage="pre"] canvas').focus()
    press(plain, "Home")
    assert plain.aloud("ffn") == f"w1 · neuron 255 · {pre[255]:.2f}".replace("-", "−")
    press(plain, "ArrowRight", "ArrowDown")
    here = 255 - 1 - columns
    assert plain.aloud("ffn") == f"w1 · neuron {here} · {pre[here]:.2f}".replace("-", "−")
    expect(picture.locator('[data-stage="pre"] .cursor')).to_be_visible()
    press(plain, "Enter")
    assert plain.told() == [["neuron", here]]
    press(plain, "Tab", "ArrowLeft")  # the next stage begins at the chosen neuron
    assert plain.aloud("ffn").startswith("w1 · neuron 3 · ")
    expect(picture.locator('[data-stage="pre"] .cursor')).to_be_hidden()
    press(plain, "Home")
    before = plain.aloud("ffn")
    plain.update("ffn", lambda: shown.show_ffn(2))  # a chosen cell tells its new value
    assert plain.aloud("ffn").split(" · ")[:2] == before.split(" · ")[:2]
    assert plain.aloud("ffn") != before
    picture.locator('[data-stage="input"] canvas').focus()
    press(plain, "End", "Enter")  # a dimension is told, and cannot be chosen
    assert plain.aloud("ffn").startswith(f"w1 · dimension {shown.D_MODEL - 1} · ")
    assert plain.told() == []


def test_a_mouse_shows_the_value_and_a_screen_reader_hears_nothing(plain: PlainPage) -> None:
    for name, canvas in (("activation_map", "canvas"), ("ffn_picture", "figure canvas")):
        picture = plain.hang(name, partial(shown.ALL[name], 1))
        picture.locator(canvas).first.hover(position={"x": 40, "y": 8})
        expect(picture.locator(".tip")).to_be_visible()
        assert picture.locator(".tip").get_attribute("aria-hidden") == "true"
        assert plain.aloud(name) == ""


def test_the_keyboards_cell_of_a_map_is_told(plain: PlainPage) -> None:
    picture = plain.hang("map", lambda: shown.show_map(1))
    picture.locator('canvas[data-name="relu"]').focus()
    press(plain, "ArrowRight", "ArrowDown")
    value = shown.hidden(1).astype(np.float16)[2, 254]
    assert plain.aloud("map") == f"w2 · neuron 254 · {value:.2f}".replace("0.00", "0")
    press(plain, "Enter", "Shift+Enter")
    cell = {"map": "relu", "neuron": 254, "token": 2}
    assert plain.told() == [["neuron", cell], ["cell", cell]]


def test_a_chart_is_walked_point_by_point_and_trace_by_trace(plain: PlainPage) -> None:
    picture = plain.hang("chart", lambda: shown.show_chart(1))
    plot = picture.locator(".plot")
    said = picture.get_by_role("status")
    plot.focus()
    press(plain, "ArrowRight")
    expect(said).to_have_text("w0, 2.5%, relu")
    expect(picture.locator(".hoverlayer .hovertext")).to_contain_text("2.5%")
    expect(picture.locator(".ring")).to_be_visible()
    press(plain, "ArrowDown")
    expect(said).to_have_text("w0, 7.5%, gelu")
    press(plain, "ArrowRight", "ArrowRight")
    second = shown.figure(1)["data"][1]["y"][2]  # type: ignore[index]
    expect(said).to_have_text(f"w2, {second:.1f}%, gelu")
    press(plain, "Enter")
    assert plain.told() == [["point", 12]]
    press(plain, "ArrowUp", "End")
    ring = box_of(picture.locator(".ring"))
    point = box_of(picture.locator(".scatterlayer .trace").first.locator(".point").last)
    for side, size in (("x", "width"), ("y", "height")):
        middle = ring[side] + ring[size] / 2  # type: ignore[literal-required]
        assert middle == pytest.approx(point[side] + point[size] / 2, abs=2)  # type: ignore[literal-required]
    press(plain, "Escape")
    expect(picture.locator(".hoverlayer .hovertext")).to_have_count(0)
    expect(picture.locator(".ring")).to_be_hidden()


def test_a_table_is_walked_in_four_directions(plain: PlainPage) -> None:
    z = np.arange(12.0).reshape(3, 4)
    table = {
        "type": "heatmap", "z": z, "x": list("abcd"), "y": list("xyz"), "customdata": z,
        "hovertemplate": "%{y} to %{x}: %{z:.0f}<extra></extra>",
    }  # fmt: skip
    picture = hang_chart(plain, table, yaxis={"autorange": "reversed"})
    said = picture.get_by_role("status")
    picture.locator(".plot").focus()
    press(plain, "ArrowRight")
    expect(said).to_have_text("x to a: 0")
    press(plain, "ArrowDown", "ArrowRight", "ArrowRight")
    expect(said).to_have_text("y to c: 6")
    press(plain, "ArrowUp", "Enter")
    expect(said).to_have_text("x to c: 2")
    assert plain.told() == [["point", 2]]


def test_a_bar_without_a_tooltip_is_told_all_the_same(plain: PlainPage) -> None:
    bars = {
        "type": "bar", "orientation": "h", "x": np.array([3.0, 1.5]), "y": ["up", "down"],
        "hoverinfo": "none", "customdata": np.array([7, 8]),
    }  # fmt: skip
    picture = hang_chart(plain, bars)
    picture.locator(".plot").focus()
    press(plain, "ArrowUp", "ArrowUp")
    expect(picture.get_by_role("status")).to_have_text("down, 1.5")
    press(plain, "Enter")
    assert plain.told() == [["point", 8]]


def test_a_chart_without_points_to_read_takes_no_stop_of_the_keyboard(plain: PlainPage) -> None:
    drawn = {"type": "scatter", "mode": "text", "text": ["A"], "x": [1], "y": [1],
             "hoverinfo": "skip"}  # fmt: skip
    picture = hang_chart(plain, drawn)
    plot = picture.get_by_role("img", name="Shares of two twins.")
    assert plot.get_attribute("tabindex") is None
