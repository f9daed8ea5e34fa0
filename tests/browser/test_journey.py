"""The first page: it shows the trace's own values, and what is clicked or typed counts."""

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from ffnviz.analysis.journey import neuron_order
from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage
from tests.browser.journey import FIRST, Journey, box_of

SENTENCE = "She opened the [MASK] and looked out."
TINY = 1e-5
COST = "It cost forty pounds."
BACKGROUND = {"light": (255, 255, 255), "dark": (14, 17, 23)}

READ_PIXELS = """(canvas) => [...canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height).data]"""

# Notes in every animation frame whether the maps' canvases are the ones from before, and painted.
WATCH = """() => {
    const hosts = [...document.querySelectorAll("*")].filter((e) => e.shadowRoot);
    const mapsOf = (host) => [...host.shadowRoot.querySelectorAll("canvas[data-name]")];
    const find = () => hosts.flatMap(mapsOf);
    const first = find();
    window.blinks = [];
    window.frames = 0;
    const look = () => {
        window.frames += 1;
        const now = find();
        if (now.length !== 2 || now.some((c, i) => c !== first[i])) window.blinks.push("replaced");
        for (const canvas of now) {
            const row = canvas.getContext("2d").getImageData(0, 0, canvas.width, 1).data;
            if (row.every((v) => v === 0)) window.blinks.push("blank");
        }
        window.watching = requestAnimationFrame(look);
    };
    look();
}"""


def pixels(journey: Journey, stage: str) -> np.ndarray:
    """The colours of a stage's cells in the order of the weights, (n, 3)."""
    canvas = journey.page.locator(f'figure[data-stage="{stage}"] canvas')
    return np.array(canvas.evaluate(READ_PIXELS)).reshape(-1, 4)[:, :3]


def percent(share: float) -> str:
    return f"{100 * share:.{1 if share < 0.0995 else 0}f}%"


def bars(journey: Journey, panel: int) -> list[tuple[str, float]]:
    """Word and probability of each bar, from its tooltip."""
    rows = journey.page.locator(".panels section").nth(panel).locator("li")
    titles = [row.get_attribute("title") or "" for row in rows.all()]
    return [(word, float(value)) for word, _, value in (t.rpartition(": ") for t in titles)]


@pytest.mark.parametrize(("twin", "threshold", "block"), [("relu", 0.0, 1), ("gelu", 0.1, 2)])
def test_shares_and_probabilities_are_the_networks_with_and_without_this_ffn(
    new_page: OpenPage, twins: dict[str, Model], twin: str, threshold: float, block: int
) -> None:
    journey, model = new_page().open(text=SENTENCE, twin=twin, block=str(block)), twins[twin]
    trace = model.trace(SENTENCE)
    active = trace.blocks[block - 1].ffn.hidden.abs() > threshold
    shares = active.double().mean(dim=-1).tolist()
    tokens = [token.text.strip() for token in trace.tokens]
    assert journey.chips.locator("bdi").all_inner_texts() == tokens
    assert journey.chips.locator("small").all_inner_texts() == [percent(s) for s in shares]
    token = tokens.index("[MASK]")
    best = trace.logits[token].double().softmax(dim=-1).topk(10)
    shown = bars(journey, panel=0)
    assert [word for word, _ in shown] == [model.tokenizer.label(int(i)) for i in best.indices]
    assert [p for _, p in shown] == pytest.approx(best.values.tolist(), abs=6e-5)
    with torch.inference_mode():
        _, final = model.encoder.run_blocks(trace.blocks[block - 1].middle, first=block)
        best = model.encoder.unembed(final[token]).double().softmax(dim=-1).topk(10)
    without = bars(journey, panel=1)
    assert [p for _, p in without] == pytest.approx(best.values.tolist(), abs=6e-5)
    journey.choose(f"block {3 - block}")  # the block that is left out follows
    assert journey.page.locator(".panels h3").all_inner_texts()[1] == f"without FFN {3 - block}"
    assert bars(journey, panel=1) != without
    assert journey.query()["block"] == str(3 - block)


def test_typing_examples_and_a_click_beside_the_tokens(new_page: OpenPage) -> None:
    journey = new_page().open()
    journey.page.keyboard.press("/")
    expect(journey.box).to_be_focused()
    journey.box.press("End")
    journey.page.keyboard.type(" It purred", delay=40)  # the page follows without Enter
    journey.wait_for(f"{FIRST} It purred")
    journey.box.press("Escape")
    expect(journey.chips.first).to_be_visible()
    assert "purr" in "".join(journey.chips.locator("bdi").all_inner_texts())
    assert journey.query()["text"] == f"{FIRST} It purred"

    sentences = journey.page.get_by_role("navigation", name="Example sentences")
    for sentence in ("It cost forty [MASK].", "The light was too light to see."):
        journey.page.get_by_role("button", name="Examples").click()
        sentences.get_by_role("button", name=sentence, exact=True).click()
        journey.wait_for(sentence)
        assert journey.box.input_value() == sentence
    # Of a word that stands there twice, the one that the example is about.
    expect(journey.chips.nth(4)).to_have_attribute("aria-pressed", "true")

    row, last = box_of(journey.page.locator('[data-cell="chips"]')), box_of(journey.chips.last)
    journey.page.mouse.click(last["x"] + last["width"] + 60, row["y"] + 20)
    expect(journey.box).to_be_focused()
    expect(journey.chips.first).to_be_hidden()
    journey.page.keyboard.press("Escape")
    expect(journey.chips.first).to_be_visible()
    journey.page.get_by_role("button", name="Edit the sentence").click()
    expect(journey.box).to_be_focused()


def hidden(model: Model, block: int) -> np.ndarray:
    values: np.ndarray = model.trace(COST).blocks[block].ffn.hidden.numpy()
    return values


def cell(
    journey: Journey, twin: str, place: int, token: int, shape: tuple[int, ...]
) -> tuple[float, float]:
    """The middle of a cell of a map."""
    bounds = box_of(journey.map_of(twin))
    n_tokens, d_ff = shape
    return (bounds["x"] + (place + 0.5) / d_ff * bounds["width"],
            bounds["y"] + (token + 0.5) / n_tokens * bounds["height"])  # fmt: skip


def assert_card_shows(journey: Journey, values: np.ndarray) -> None:
    """The card has a neuron's values; the last digit of a tiny one depends on the order of sums."""
    texts = journey.card().locator("li b").all_inner_texts()
    for text, value in zip(texts, values, strict=True):
        if 0 < abs(value) < TINY:
            assert re.fullmatch(r"−?\d × 10⁻[⁶⁷⁸]", text)
        else:
            assert text == as_shown(value)


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


def test_a_neuron_is_chosen_in_both_maps_by_keyboard_and_in_the_ffns_picture(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open(text=COST, twin="relu", block="2", order="index")
    assert journey.card().locator("p bdi").count() == 8  # words
    journey.map_of("gelu").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        journey.page.keyboard.press(key)
    journey.settle()
    assert journey.query()["neuron"] == "gelu-3"
    assert_card_shows(journey, hidden(twins["gelu"], 1)[:, 3])

    # 32 columns and 64 rows of neurons in the order of the weights: row 1, column 2 is neuron 34.
    bounds = box_of(journey.page.locator('figure[data-stage="hidden"] canvas'))
    journey.page.mouse.click(
        bounds["x"] + 2.5 / 32 * bounds["width"], bounds["y"] + 1.5 / 64 * bounds["height"]
    )
    journey.settle()
    assert journey.query()["neuron"] == "relu-34"

    before = journey.map_of("relu").evaluate("(canvas) => canvas.toDataURL()")
    button = journey.page.get_by_role("button", name="by strength", exact=True)
    button.focus()
    journey.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(button).to_be_focused()
    journey.settle()
    assert journey.query()["order"] == "strength"
    assert journey.map_of("relu").evaluate("(canvas) => canvas.toDataURL()") != before
    pressed = journey.page.locator('.orders [aria-pressed="true"]')
    assert pressed.all_inner_texts() == ["by strength"]

    token = 2
    for twin, label in (("relu", "ReLU"), ("gelu", "GELU")):
        values = hidden(twins[twin], 1)
        order = neuron_order(values, "strength")
        place = int(np.flatnonzero(np.abs(values).argmax(0)[order] == token)[0])
        journey.page.mouse.move(*cell(journey, twin, place, token, values.shape))
        tip = journey.page.locator(".maps .tip")
        assert tip.inner_text().startswith("forty · neuron ")
        neuron = int(tip.inner_text().split("neuron ")[1].split(" ")[0])
        told = float(tip.locator("b").inner_text().replace("−", "-"))
        assert told == pytest.approx(values[token, neuron], abs=0.02)
        journey.page.mouse.down()
        journey.page.mouse.up()
        journey.settle()
        title = journey.card().locator("h3").inner_text().splitlines()[0]
        assert title == f"Neuron 2:{neuron} · {label}"
        assert_card_shows(journey, values[:, neuron])
        assert journey.query()["neuron"] == f"{twin}-{neuron}"
        assert journey.query()["token"] == str(token + 1), "what the tip names is what is taken"


def background(journey: Journey, stage: str, scheme: str) -> np.ndarray:
    """Which cells of a stage look like the page, in the order of the weights."""
    canvas = journey.page.locator(f'figure[data-stage="{stage}"] canvas')
    pixels = np.array(canvas.evaluate(READ_PIXELS)).reshape(-1, 4)[:, :3]
    found: np.ndarray = (pixels == BACKGROUND[scheme]).all(axis=1)
    return found


def test_what_relu_cut_is_gone_in_the_light_and_in_the_dark_and_no_map_blinks(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open(text=COST, twin="relu", block="1", token="3", order="index")
    zeros = hidden(twins["relu"], 0)[2] == 0
    assert zeros.any()
    np.testing.assert_array_equal(background(journey, "hidden", "light"), zeros)
    # Before φ the same neurons were there to be seen.
    assert background(journey, "pre", "light").mean() < 0.01
    canvas = journey.page.locator('[data-stage="hidden"] canvas').element_handle()
    light = canvas.evaluate("(canvas) => canvas.toDataURL()")
    journey.page.emulate_media(color_scheme="dark")
    journey.page.wait_for_function(
        "([canvas, light]) => canvas.toDataURL() !== light", arg=[canvas, light]
    )
    np.testing.assert_array_equal(background(journey, "hidden", "dark"), zeros)
    assert background(journey, "pre", "dark").mean() < 0.01
    journey.page.evaluate(WATCH)
    journey.write("It cost fifty pounds and a penny.")
    assert journey.page.evaluate("window.frames") > 1
    assert journey.page.evaluate("window.blinks") == []


RECORD = """() => {
  window.played = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, options) {
    if (this.localName === "i") window.frames_of_bars = frames.flatMap(Object.keys);
    window.played.push([this.className || this.localName, options.duration + (options.delay ?? 0)]);
    return animate.call(this, frames, options);
  };
}"""
STAGES = """() => [...document.querySelector('[data-cell="ffn"]').shadowRoot
  .querySelectorAll("canvas")].map((canvas) => canvas.toDataURL())"""


def choose(journey: Journey, token: int) -> list[tuple[str, float]]:
    """What is played when a token is chosen, and when each ends, in milliseconds."""
    journey.page.evaluate(RECORD)
    journey.choose_token(token)
    return [(name, end) for name, end in journey.page.evaluate("window.played")]


def test_a_chosen_token_is_played_once_and_what_stays_moves(new_page: OpenPage) -> None:
    moving = new_page(moving=True).open(text=SENTENCE, token="4").settle()
    played = choose(moving, 1)
    stages = [end for name, end in played if name in ("grid", "fan")]
    assert len(stages) == 11, "six stages, and five steps between them"
    assert stages == sorted(stages)
    assert max(stages) <= 600
    assert all(end <= 200 for name, end in played if name not in ("grid", "fan"))
    assert "i" in dict(played), "bars get to their length"
    moved = moving.page.evaluate("window.frames_of_bars")
    assert set(moved) == {"transform", "transformOrigin"}, "without a layout"
    # Where a person's system asks for calm, nothing is played, and the picture is the same.
    calm = new_page().open(text=SENTENCE, token="4").settle()
    assert choose(calm, 1) == []
    assert calm.page.locator('.row [aria-pressed="true"] bdi').all_inner_texts() == ["opened"]
    assert calm.query()["token"] == "2"
    assert "“opened”" in calm.page.locator(".leads .sentence").inner_text()
    assert calm.page.locator(".maps .labels .chosen").all_inner_texts() == ["opened"] * 2
    assert calm.page.evaluate(STAGES) == moving.page.evaluate(STAGES)
    # Of another sentence only rows that stay move.
    moving.page.evaluate("window.played = []")
    moving.write("He opened the [MASK] and looked out.").settle()
    played = moving.page.evaluate("window.played")
    assert all(end <= 200 and name not in ("grid", "fan") for name, end in played)
