"""The Neurons page: neurons switched off, and two sentences compared."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from ffnviz.analysis.neurons.intervention import direct_contributions
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey
from tests.browser.test_neurons_meet import number_box
from tests.parts.test_sparsity_sheets import percents

SENTENCE = "It cost forty pounds."


def words_after(model: Model, edits: list[Edit], token: int) -> list[str]:
    logits = model.trace(SENTENCE, edits=edits).logits[token]
    return [model.tokenizer.label(int(i)) for i in logits.topk(10).indices]


def shown_words(journey: Journey, panel: int) -> list[str]:
    texts = journey.chart("switched").locator(".bars").nth(panel).locator(".bartext")
    return [re.sub(r" [<\d][\d.]*%$", "", text) for text in texts.all_text_contents()]


@pytest.mark.parametrize(
    ("query", "edits"),
    [
        ({}, [Edit(1, [40], scale=0.0)]),
        ({"off": "2:0-1023"}, [Edit(1, range(1_024), scale=0.0)]),
        ({"off": "1:0-500, 7", "do": "scale", "by": "-3"},
         [Edit(0, range(501), scale=-3.0), Edit(1, [7], scale=-3.0)]),
        ({"off": "1:3-90", "do": "fix to", "by": "5", "where": "at the chosen token"},
         [Edit(0, range(3, 91), value=5.0, tokens=[2])]),
    ],
)  # fmt: skip
def test_a_link_switches_neurons_and_shows_what_the_edited_network_says(
    new_page: OpenPage, twins: dict[str, Model], query: dict[str, str], edits: list[Edit]
) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, token="3",
                                   twin="relu", neuron="relu-40", **query)  # fmt: skip
    assert shown_words(journey, 1) == words_after(twins["relu"], edits, 2)
    assert shown_words(journey, 0) == words_after(twins["relu"], [], 2)
    plain, edited = (twins["relu"].trace(SENTENCE, edits=e) for e in ([], edits))
    a, b = plain.blocks[-1].output[2], edited.blocks[-1].output[2]
    moved = 100 * float((b - a).norm() / a.norm())
    assert percents(journey.sentence("changes"))[1] == pytest.approx(moved, rel=0.06, abs=0.06)
    # Links of old had words where ids are now.
    ids = {"fix to": "fix", "at the chosen token": "token"}
    for name, value in query.items():
        assert journey.query()[name] == ids.get(value, value)


def test_the_controls_switch_and_the_url_follows(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, token="3")
    box = journey.page.get_by_label("Neurons to switch")
    box.fill("1:0-2047")
    box.press("Enter")
    journey.settle()
    edit = Edit(0, range(2_048), scale=0.0)
    assert shown_words(journey, 1) == words_after(twins["relu"], [edit], 2)
    journey.page.get_by_role("radio", name="at the chosen token").click()
    journey.settle()
    edit = Edit(0, range(2_048), scale=0.0, tokens=[2])
    assert shown_words(journey, 1) == words_after(twins["relu"], [edit], 2)
    assert journey.query()["where"] == "token"
    journey.page.get_by_role("radio", name="fix to").click()
    journey.settle()
    amount = journey.page.get_by_label("fix to").last
    amount.fill("0.25")
    amount.press("Enter")
    journey.settle()
    edit = Edit(0, range(2_048), value=0.25, tokens=[2])
    assert shown_words(journey, 1) == words_after(twins["relu"], [edit], 2)
    assert journey.query()["by"] == "0.25"
    journey.press("Reset")
    assert "off" not in journey.query()


@pytest.mark.parametrize("typed", ["seven", "3:1", "2:9999", "<b>1</b>", "![a](https://x.y/z.png)"])
def test_what_names_no_set_is_answered_in_plain_words_and_kept(
    new_page: OpenPage, typed: str
) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE)
    box = journey.page.get_by_label("Neurons to switch")
    box.fill(typed)
    box.press("Enter")
    expect(journey.page.get_by_text("This names no set of neurons.")).to_be_visible()
    assert box.input_value() == typed
    expect(journey.page.get_by_test_id("stException")).to_have_count(0)
    assert journey.page.locator('[data-testid="stText"] :is(b, img)').count() == 0


def test_those_that_speak_for_a_word_can_be_switched_as_a_set(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, token="3")
    model = twins["relu"]
    trace = model.trace(SENTENCE)
    word = int(trace.logits[2].argmax())
    added = direct_contributions(model, trace, 2, word)
    most = np.argsort(-added.ravel())[:10]
    assert f"{most[0] // 2048 + 1}:{most[0] % 2048} adds most" in journey.sentence("contributions")
    journey.press("Switch the 10 that add most")
    edits = [Edit(block, [int(n % 2048) for n in most if n // 2048 == block], scale=0.0)
             for block in (0, 1)]  # fmt: skip
    assert shown_words(journey, 1) == words_after(model, edits, 2)
    share = float(model.trace(SENTENCE, edits=edits).logits[2].softmax(-1)[word])
    assert f"to {share:.1%}" in journey.sentence("switched")
    # A click on the first bar takes that neuron out again.
    bar = journey.chart("contributions").locator(".bars .point").first.bounding_box()
    assert bar
    journey.click_at(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    assert "With 9 neurons" in journey.sentence("switched")


def test_the_probe_sentences_say_how_much_worse_it_gets(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, off="2:0-2047")
    journey.page.get_by_role("button", name="Measure on the probe sentences").click()
    told = journey.page.get_by_text("masked tokens of our probe sentences")
    expect(told).to_be_visible()
    n, plain, edited, worse = re.findall(r"[\d,]+\.?\d*", told.inner_text())[:4]
    assert int(n.replace(",", "")) > 2_000
    assert 3 < float(plain) < float(edited) < 12
    assert float(worse) == pytest.approx(float(edited) - float(plain), abs=2e-3)
    journey.page.get_by_role("radio", name="multiply by").click()
    expect(told).to_have_count(0)  # what was measured is not what is shown any more


def test_two_sentences_are_compared_and_a_cell_leads_to_its_neuron(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", part="compare", text=SENTENCE)
    journey.page.get_by_role("button", name="Try “The dog is").click()
    journey.wait_for("The dog is in the house.").settle()
    one, two = (twins["relu"].trace(text).blocks[1].ffn.hidden.numpy()
                for text in ("The dog is in the house.", "The dogs are in the house."))  # fmt: skip
    row, neuron = np.unravel_index(int(np.abs(two - one).argmax()), one.shape)
    sentence = journey.sentence("compared")
    assert f"Neuron 2:{neuron} differs most" in sentence
    assert f"{one[row, neuron]:.2f} → {two[row, neuron]:.2f}" in sentence
    moved = np.linalg.norm(two[5] - one[5])
    assert f"moves by {moved:.2f}" in journey.sentence("pair")
    map_ = journey.chart("compared").locator(".heatmaplayer image").bounding_box()
    assert map_
    journey.click_at(map_["x"] + map_["width"] / 48, map_["y"] + map_["height"] / 2)
    assert journey.query()["neuron"] == f"relu-{neuron}"
    assert number_box(journey) == str(neuron)


def test_another_second_sentence_is_typed_and_stays_text(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="compare", text=SENTENCE)
    box = journey.page.get_by_label("Second sentence")
    for typed in ("It cost <b>sixty</b> pounds.", "👩\u200d👩\u200d👧", "x " * 300, "a"):
        box.fill(typed)
        box.press("Enter")
        journey.answered()
        expect(journey.page.get_by_test_id("stException")).to_have_count(0)
    box.fill("")
    box.press("Enter")
    expect(journey.page.get_by_text("Type a second sentence to compare")).to_be_visible()
