"""The tokens on the page are the sentence's, and their shares are what the model says."""

import pytest
from playwright.sync_api import expect

from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage
from tests.browser.journey import FIRST

SENTENCE = "She opened the [MASK] and looked out."


def percent(share: float) -> str:
    return f"{100 * share:.{1 if share < 0.0995 else 0}f}%"


@pytest.mark.parametrize(("twin", "threshold", "block"), [("relu", 0.0, 1), ("gelu", 0.1, 2)])
def test_every_chip_has_the_share_the_trace_has(
    new_page: OpenPage, twins: dict[str, Model], twin: str, threshold: float, block: int
) -> None:
    journey = new_page().open(text=SENTENCE, twin=twin, block=str(block))
    trace = twins[twin].trace(SENTENCE)
    hidden = trace.blocks[block - 1].ffn.hidden
    shares = (hidden.abs() > threshold).double().mean(dim=-1).tolist()
    assert journey.chips.locator("bdi").all_inner_texts() == [
        token.text.strip() for token in trace.tokens
    ]
    assert journey.chips.locator("small").all_inner_texts() == [percent(s) for s in shares]


def test_the_page_follows_while_a_person_types(new_page: OpenPage) -> None:
    journey = new_page().open()
    journey.page.keyboard.press("/")
    expect(journey.box).to_be_focused()
    journey.box.press("End")
    journey.page.keyboard.type(" It purred", delay=40)  # and no Enter
    journey.wait_for(f"{FIRST} It purred")
    journey.box.press("Escape")
    expect(journey.chips.first).to_be_visible()
    assert "purr" in "".join(journey.chips.locator("bdi").all_inner_texts())
    assert journey.query()["text"] == f"{FIRST} It purred"


def test_the_mask_drives_the_page_until_another_token_is_chosen(new_page: OpenPage) -> None:
    journey = new_page().open(text=SENTENCE)
    chosen = journey.page.locator('.row [aria-pressed="true"] bdi')
    assert chosen.all_inner_texts() == ["[MASK]"]
    journey.chips.nth(1).click()
    journey.settle()
    assert chosen.all_inner_texts() == ["opened"]
    assert journey.query()["token"] == "2"
    assert "“opened”" in journey.page.locator(".leads .sentence").inner_text()
    assert journey.page.locator(".maps .labels .chosen").all_inner_texts() == ["opened"] * 2


def test_an_example_fills_the_box(new_page: OpenPage) -> None:
    journey = new_page().open()
    journey.page.get_by_role("button", name="Examples").click()
    journey.page.get_by_role("navigation", name="Example sentences").get_by_role(
        "button", name="It cost forty [MASK]."
    ).click()
    journey.wait_for("It cost forty [MASK].")
    assert journey.box.input_value() == "It cost forty [MASK]."


def test_a_chip_is_reached_and_chosen_by_keyboard(new_page: OpenPage) -> None:
    journey = new_page().open(text=SENTENCE)
    journey.chips.nth(0).focus()
    journey.page.keyboard.press("ArrowRight")
    journey.page.keyboard.press("Enter")
    journey.settle()
    assert journey.query()["token"] == "2"


def test_a_click_beside_the_tokens_edits_the_sentence_in_their_place(new_page: OpenPage) -> None:
    journey = new_page().open(text=SENTENCE)
    row = journey.page.locator('[data-cell="chips"]').bounding_box()
    last = journey.chips.last.bounding_box()
    assert row
    assert last
    journey.page.mouse.click(last["x"] + last["width"] + 60, row["y"] + 20)
    expect(journey.box).to_be_focused()
    expect(journey.chips.first).to_be_hidden()
    journey.page.keyboard.press("Escape")
    expect(journey.chips.first).to_be_visible()
    journey.page.get_by_role("button", name="Edit the sentence").click()
    expect(journey.box).to_be_focused()
