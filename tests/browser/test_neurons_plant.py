"""The Neurons page: a neuron planted for a token, and how far it spreads."""

import re

from playwright.sync_api import expect

from ffnviz.analysis.neurons.plant import output_with, plant, word_id
from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "She opened the [MASK] and looked out."


def expected(model: Model, word: str, strength: float, choosy: float) -> tuple[float, float]:
    """The word's share at the mask, without the neuron and with it."""
    trace, entry = model.trace(SENTENCE), word_id(model, word)
    planted = plant(model, trace, 1, 3, entry, strength, choosy)
    logits = model.logits(model.stream_with(trace, 1, output_with(trace, 1, planted)))
    return float(trace.logits[3].softmax(-1)[entry]), float(logits[3].softmax(-1)[entry])


def told(journey: Journey) -> list[float]:
    return [float(share) for share in re.findall(r"([\d.]+)%", journey.sentence("planted"))]


def test_a_word_is_planted_spreads_and_comes_back_by_its_link(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", part="plant", text=SENTENCE)
    _, now = expected(twins["relu"], "moon", 1.5, 0.7)
    assert abs(told(journey)[-1] - 100 * now) < 0.6
    box = journey.page.get_by_label("A word for the new neuron")
    for typed in ("xyzzy", "<b>x</b>", ""):
        box.fill(typed)
        box.press("Enter")
        expect(journey.page.get_by_text("This word cannot be planted.")).to_be_visible()
        assert box.input_value() == typed
    box.fill("elephant")
    box.press("Enter")
    journey.settle()
    journey.slide("strength", 9).slide("wakes where", 4)
    query = journey.query()
    assert (query["plant"], query["strength"], query["choosy"]) == ("elephant", "3", "0.2")
    _, now = expected(twins["relu"], "elephant", 3.0, 0.2)
    assert abs(told(journey)[-1] - 100 * now) < 0.6
    assert "7 of the 7 other tokens" in journey.sentence("planted-here")
    journey.press("Try it on other sentences")
    result = journey.page.get_by_text("its word is the likeliest at")
    expect(result).to_be_visible()
    counts = re.findall(r"\d[\d,]*(?=[ ;.])", result.inner_text())
    n, after, before = (int(count.replace(",", "")) for count in counts[:3])
    assert n > 2_000
    assert after > 100 > before
    expect(journey.page.locator(".passages li")).to_have_count(10)
    again = new_page().open_page("neurons", **query)
    assert told(again) == told(journey)
