"""Both activation maps, the FFN picture and the neuron card show the trace's own values."""

import numpy as np
import pytest
from playwright.sync_api import expect

from ffnviz.analysis.journey import neuron_order
from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "It cost forty pounds."


def hidden(twins: dict[str, Model], twin: str, block: int) -> np.ndarray:
    values: np.ndarray = twins[twin].trace(SENTENCE).blocks[block].ffn.hidden.numpy()
    return values


def point_at(journey: Journey, twin: str, place: int, token: int, d_ff: int, n_tokens: int) -> None:
    """Move the mouse to the middle of a cell of a map."""
    canvas = journey.map_of(twin)
    canvas.scroll_into_view_if_needed()
    bounds = canvas.bounding_box()
    assert bounds is not None
    journey.page.mouse.move(
        bounds["x"] + (place + 0.5) / d_ff * bounds["width"],
        bounds["y"] + (token + 0.5) / n_tokens * bounds["height"],
    )


def shown_values(journey: Journey) -> list[str]:
    return journey.card().locator("li b").all_inner_texts()


def as_shown(value: float) -> str:
    """A value to two decimals, or to one digit in powers of ten where that would be nothing."""
    size = abs(float(np.float32(value)))
    if size == 0:
        return "0"
    sign = "−" if value < 0 else ""
    if size >= 0.005:
        return f"{sign}{size:.2f}"
    mantissa, exponent = f"{size:.0e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{sign}{mantissa} × 10{raised}"


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_clicking_a_cell_of_a_map_shows_that_neuron_on_every_token(
    new_page: OpenPage, twins: dict[str, Model], twin: str
) -> None:
    journey = new_page().open(text=SENTENCE, twin="relu", block="2")
    values = hidden(twins, twin, 1)
    order = neuron_order(values, "token")
    token = 2
    place = int(np.flatnonzero(np.abs(values).argmax(0)[order] == token)[0])
    point_at(journey, twin, place, token, values.shape[1], len(values))
    tip = journey.page.locator(".maps .tip")
    assert tip.inner_text().startswith("forty · neuron ")
    neuron = int(tip.inner_text().split("neuron ")[1].split(" ")[0])
    assert float(tip.locator("b").inner_text()) == pytest.approx(values[token, neuron], abs=0.02)
    journey.page.mouse.down()
    journey.page.mouse.up()
    journey.settle()
    label = {"relu": "ReLU", "gelu": "GELU"}[twin]
    title = journey.card().locator("h3").inner_text().splitlines()[0]
    assert title == f"Neuron 2:{neuron} · {label}"
    assert shown_values(journey) == [as_shown(v) for v in values[:, neuron]]
    assert journey.query()["neuron"] == f"{twin}-{neuron}"
    assert journey.query()["token"] == str(token + 1), "what the tip names is what a click takes"


def test_the_keyboard_moves_over_a_map_and_chooses(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open(text=SENTENCE, twin="relu", block="1", order="index")
    journey.map_of("gelu").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        journey.page.keyboard.press(key)
    journey.settle()
    assert journey.query()["neuron"] == "gelu-3"
    assert shown_values(journey) == [as_shown(v) for v in hidden(twins, "gelu", 0)[:, 3]]


def test_a_click_in_the_ffn_picture_chooses_a_neuron(new_page: OpenPage) -> None:
    journey = new_page().open(text=SENTENCE, order="index")
    canvas = journey.page.locator('figure[data-stage="hidden"] canvas')
    bounds = canvas.bounding_box()
    assert bounds is not None
    # 32 columns and 64 rows of neurons in the order of the weights: row 1, column 2 is neuron 34
    journey.page.mouse.click(
        bounds["x"] + 2.5 / 32 * bounds["width"], bounds["y"] + 1.5 / 64 * bounds["height"]
    )
    journey.settle()
    assert journey.query()["neuron"] == "relu-34"


def test_the_order_buttons_reorder_keep_the_focus_and_stay_in_the_url(new_page: OpenPage) -> None:
    journey = new_page().open(text=SENTENCE)
    assert journey.card().locator("p bdi").count() == 8  # words
    before = journey.map_of("relu").evaluate("(canvas) => canvas.toDataURL()")
    button = journey.page.get_by_role("button", name="by strength", exact=True)
    button.focus()
    journey.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(button).to_be_focused()
    journey.settle()
    assert journey.query()["order"] == "strength"
    assert journey.map_of("relu").evaluate("(canvas) => canvas.toDataURL()") != before
    assert journey.page.locator('.orders [aria-pressed="true"]').all_inner_texts() == [
        "by strength"
    ]
