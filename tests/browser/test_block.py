"""The block: stepped through by keys, looked at by clicks, and kept in its link."""

import re
from functools import partial
from itertools import product

import numpy as np
from playwright.sync_api import Position, expect

from tests.browser import shown
from tests.browser.conftest import OpenPage
from tests.browser.journey import box_of
from tests.browser.plain_page import PlainPage

CAPTION: Position = {"x": 30, "y": 30}  # of a station, above its map
TEXT = "She opened the [MASK] and looked out."


def test_keys_and_buttons_step_through_the_stations_and_blocks(plain: PlainPage) -> None:
    picture = plain.hang("block", lambda: shown.show_block(1, station="x"))
    page = plain.page
    stations, title = picture.locator("button.station"), picture.locator("h3")
    stations.first.focus()
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text("2 of 7: norm n")
    expect(stations.nth(1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert plain.told() == [
        ["station", "n"], ["station", "a"], ["station", "n"], ["station", "x"], ["block", 0],
    ]  # fmt: skip
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert plain.told() == [["token", 2], ["token", 0]]
    stations.last.click(position=CAPTION)
    picture.get_by_role("button", name="One step on").click()
    assert plain.told() == [["station", "f"], ["block", 1]]
    picture.get_by_role("button", name="Play all steps").click()
    expect(title).to_have_text("1 of 7: stream x")
    expect(title).to_have_text("2 of 7: norm n")
    picture.get_by_role("button", name="Stop").click()
    expect(picture.get_by_role("button", name="Play all steps")).to_be_visible()
    assert plain.told() == [["station", "x"], ["station", "n"]]


def test_what_is_chosen_is_shown_at_once_and_stays_until_the_page_answers(plain: PlainPage) -> None:
    picture = plain.hang("block", lambda: shown.show_block(1, station="x"))
    stations = picture.locator("button.station")
    stations.nth(2).click(position=CAPTION)
    heads = picture.get_by_role("group", name="Heads of the attention").get_by_role("button")
    expect(heads).to_have_count(3)
    weights = shown.stations(1)[2].weights
    assert weights is not None
    for head, expected in ((0, weights.mean(axis=0)), (2, weights[1])):
        heads.nth(head).click()
        most = int(np.argmax(expected[1]))
        text = picture.locator(".most").inner_text()
        assert re.search(rf"looks at w{most} {100 * expected[1, most]:.0f}%", text)
    plain.update("block", lambda: shown.show_block(2, station="x"))  # older than the click
    expect(stations.nth(2)).to_have_attribute("aria-pressed", "true")
    plain.update("block", lambda: shown.show_block(3, station="a", head=2))
    plain.update("block", lambda: shown.show_block(4, station="s"))
    expect(picture.locator("h3")).to_have_text("4 of 7: sum s")
    plain.told()
    row = picture.locator(".map").first
    row.click(position={"x": 20, "y": 5})
    assert plain.told() == [["station", "x"]]
    row.click(position={"x": 20, "y": 5})
    assert plain.told() == [["token", 0]], "a click on the chosen station's row"


def test_few_and_many_tokens_have_their_lanes(plain: PlainPage) -> None:
    for width, n_tokens in product((340, 1200), (1, 128)):
        plain.page.set_viewport_size({"width": width, "height": 900})
        host, token = f"block-{width}-{n_tokens}", min(1, n_tokens - 1)
        picture = plain.hang(
            host, partial(shown.show_block, 1, "f", token=token, n_tokens=n_tokens)
        )
        for canvas in picture.locator(".map canvas").all():
            bounds = box_of(canvas)
            assert bounds["width"] > 10, host
            assert bounds["height"] > 10, host
            assert bounds["x"] + bounds["width"] <= width, host
        expect(picture.locator(".fault")).to_have_count(0)
        plain.page.evaluate("(host) => made[host].destroy()", host)


def test_what_is_chosen_in_the_picture_is_kept_in_the_link(new_page: OpenPage) -> None:
    journey = new_page().open_page("block", text=TEXT, twin="gelu", block="1")
    page, stations = journey.page, journey.page.locator("button.station")
    page.get_by_role("button", name="Head 5").click()
    expect(page.locator(".most")).to_contain_text(re.compile("^Head 5: .* looks at "))
    page.get_by_role("button", name="One step on").click()
    journey.settle()
    assert journey.query()["station"] == "sum1"
    assert journey.query()["attention_head"] == "5"
    page.reload()
    journey.wait_for(TEXT)
    expect(page.locator(".card h3")).to_have_text("4 of 7: + attention")
    # Two clicks that one answer of the page follows.
    on = page.get_by_role("button", name="One step on").element_handle()
    stations.nth(6).evaluate("(station, on) => { station.click(); on.click(); }", on)
    journey.settle()
    assert journey.query()["block"] == "2"
    expect(page.locator(".card h3")).to_have_text("1 of 7: stream x")
    journey.press("post-LN, never trained")
    assert journey.query()["layernorm"] == "moved"
    expect(stations.nth(3)).to_contain_text("LayerNorm")
    journey.part("decoder")
    page.get_by_role("textbox", name="Written so far").fill("A dog")
    page.keyboard.press("Enter")
    journey.settle()
    expect(page.locator(".sentence").filter(has_text="borrows")).to_contain_text("“dog”")
    assert journey.query()["written"] == "A dog"


def test_what_is_taken_away_turns_at_once_and_stays_in_the_link(new_page: OpenPage) -> None:
    journey = new_page().open_page("block", text=TEXT, part="strip")
    parts = journey.page.get_by_role("group", name="Take away").get_by_role("button")
    expect(parts).to_have_text(["attention", "FFN", "residual", "LayerNorm", "φ"])
    for part in (parts.nth(1), parts.nth(2), parts.nth(4)):  # faster than the page answers
        part.click()
    for at, pressed in enumerate(("false", "false", "false", "false", "true")):
        expect(parts.nth(at)).to_have_attribute("aria-pressed", pressed)
    expect(journey.chart("apart").locator(".sentence")).to_contain_text("blocks without φ")
    journey.settle()
    assert journey.query()["without"] == "phi"
    journey.slide("blocks", 0)
    assert journey.query()["blocks"] == "1"
    assert "After 1 untrained block without φ" in journey.sentence("apart")
