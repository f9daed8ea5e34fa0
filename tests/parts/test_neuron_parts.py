"""Switch off, Insert a neuron, Compare two sentences, Where is a fact?: what networks then do."""

import copy
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.facts import Fact, read_facts
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.neurons.intervention import direct_contributions
from ffnviz.analysis.prediction import logits_with_ffn_output, predict, predict_without_ffn
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model, load
from ffnviz.parts.neurons import fact, switch
from ffnviz.parts.neurons import insert as planting
from ffnviz.parts.neurons.fact import Located, locate, said, switched_off
from ffnviz.parts.neurons.insert import output_with, plant, word_id
from ffnviz.parts.sheet import Measured, Measurement, Sheet, measured_at_once
from ffnviz.state.actions import ChooseToken, OpenNeuron, Set, ShowState
from ffnviz.state.run import Run
from ffnviz.state.settings import Values
from ffnviz.state.state import Neuron
from tests.parts.sheets import Drawn, drawn, words

TEXT = "It cost forty pounds."
HIDDEN = "She opened the [MASK] and looked out."


def panel(shown: Drawn, key: str, at: int) -> list[str]:
    """The words at the bars of one panel."""
    names: list[str] = shown.cells[key].data["panels"][at]["names"]
    return names


def likeliest(edits: list[Edit], token: int = 2) -> list[str]:
    model = load("relu")
    logits = model.trace(TEXT, edits=edits).logits[token]
    return [model.tokenizer.label(int(i)) for i in logits.topk(10).indices]


def measured(sheet: Sheet, shown: Drawn) -> tuple[Measurement[Any], Measured[Any]]:
    """What is measured on request in some column, and its result."""
    (measurement,) = (
        cell
        for row in sheet.rows
        for column in getattr(row, "columns", ())
        for cell in column.cells
        if isinstance(cell, Measurement)
    )
    return measurement, measured_at_once(measurement, shown.run)


@pytest.mark.parametrize(
    ("query", "edits"),
    [
        ({}, [Edit(1, [40], scale=0.0)]),
        ({"off": "2:0-1023"}, [Edit(1, range(1_024), scale=0.0)]),
        ({"off": "1:0-500, 7", "do": "scale", "by": "-3"},
         [Edit(0, range(501), scale=-3.0), Edit(1, [7], scale=-3.0)]),
        # Links of old had words where ids are now.
        ({"off": "1:3-90", "do": "fix to", "by": "5", "where": "at the chosen token"},
         [Edit(0, range(3, 91), value=5.0, tokens=[2])]),
    ],
)  # fmt: skip
def test_neurons_are_switched_and_the_network_speaks(
    query: dict[str, str], edits: list[Edit]
) -> None:
    shown = drawn(
        "neurons", "switch", text=TEXT, token="3", neuron="relu-40", measure=True, **query
    )
    assert panel(shown, "switched-words", 0) == likeliest([])
    assert panel(shown, "switched-words", 1) == likeliest(edits)
    plain, edited = (load("relu").trace(TEXT, edits=each) for each in ([], edits))
    a, b = plain.blocks[-1].output[2], edited.blocks[-1].output[2]
    last = re.findall(r"([\d.]+)%", words(shown.cells["changes"]))[-1]
    assert float(last) == pytest.approx(100 * float((b - a).norm() / a.norm()), rel=0.06, abs=0.06)


@pytest.mark.parametrize(
    ("part", "query", "message"),
    [("switch", {"off": typed}, "This names no set of neurons.\n")
     for typed in ("seven", "3:1", "2:9999", "<b>1</b>")]
    + [("plant", {"plant": typed}, "This word cannot be inserted.\n")
       for typed in ("xyzzy", "<b>x</b>", "")],
)  # fmt: skip
def test_what_cannot_be_done_is_answered_in_plain_words_and_kept(
    part: str, query: dict[str, str], message: str
) -> None:
    shown = drawn("neurons", part, text=TEXT, measure=True, **query)
    (cell,) = shown.cells.values()
    assert words(cell).startswith(message)
    assert cell.data["paragraphs"][1][0][1] == "typed"
    (typed,) = query.values()
    assert typed in [control.get("text") for control in shown.controls.values()]


def test_those_that_speak_for_a_word_can_be_switched_as_a_set() -> None:
    shown = drawn("neurons", "switch", text=TEXT, token="3")
    model = load("relu")
    added = direct_contributions(
        model, model.trace(TEXT), 2, int(shown.run.trace.logits[2].argmax())
    )
    most = np.argsort(-added.ravel())[:10]
    name = "{}:{}".format(*(divmod(int(most[0]), 2_048) + np.array([1, 0])))
    assert f"{name} adds most" in words(shown.cells["contributions"])
    action = shown.pressed("Switch the 10 that add most")
    switched = drawn("neurons", "switch", text=TEXT, token="3", measure=True, **action.settings)
    edits = [Edit(block, [int(n % 2_048) for n in most if n // 2_048 == block], scale=0.0)
             for block in (0, 1)]  # fmt: skip
    assert panel(switched, "switched-words", 1) == likeliest(edits)
    click = switched.cells["contributions"].events["point"]
    without = drawn(
        "neurons", "switch", text=TEXT, token="3", measure=True, **click(int(most[0])).settings
    )
    assert "With 9 neurons set to zero" in words(without.cells["switched-words"])
    assert switched.pressed("Reset") == Set(dict.fromkeys(("off", "do", "by", "where")))
    assert shown.pressed("Reset") is None


def test_where_a_link_is_full_no_neuron_is_added() -> None:
    full = "".join(f"1:{n}, " for n in range(1_001, 1_250, 2))[:1_000]
    shown = drawn("neurons", "switch", text=TEXT, off=full)
    assert "nearly full" in shown.said
    assert switch.toggle({0: range(0, 2_000, 2)}, 1, 7) is None
    assert switch.toggle({0: (5,)}, 1, 7) == Set({"off": "1:5, 2:7"})
    assert switch.toggle({0: (5,)}, 0, 5) == Set({"off": ""})


def test_the_probe_sentences_say_how_much_worse_it_gets() -> None:
    shown = drawn("neurons", "switch", text=TEXT, off="2:0-2047")
    measurement, result = measured(switch.sheet(shown.run, Values({"off": "2:0-2047"})), shown)
    assert measurement.label == "Try it on 2,000 hidden words"
    (cell,) = measurement.after(result)
    n, plain, edited, worse = re.findall(r"[\d,]+\.?\d*", words(cell))[:4]
    assert int(n.replace(",", "")) > 2_000
    assert 3 < float(plain) < float(edited) < 12
    assert float(worse) == pytest.approx(float(edited) - float(plain), abs=2e-3)


def test_a_planted_word_is_said_and_spreads_as_far_as_it_is_strong() -> None:
    query = {"plant": "elephant", "strength": "3", "choosy": "0.2"}
    shown = drawn("neurons", "plant", text=HIDDEN, measure=True, **query)
    model = load("relu")
    trace, entry = model.trace(HIDDEN), word_id(model, "elephant")
    planted = plant(model, trace, 1, 3, entry, 3.0, 0.2)
    logits = model.logits(model.stream_with(trace, 1, output_with(trace, 1, planted)))
    share = re.findall(r"([\d.]+)%", words(shown.cells["planted-words"]).split("\n")[0])[-1]
    assert float(share) == pytest.approx(100 * float(logits[3].softmax(-1)[entry]), abs=0.6)
    assert "7 of the 7 other tokens" in words(shown.cells["planted-here"])
    click = shown.cells["planted-here"].events["point"]
    assert click(5) == ChooseToken(5)
    measurement, result = measured(planting.sheet(shown.run, Values(query)), shown)
    spread, passages = measurement.after(result)
    after, n, before = (int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", words(spread))[:3])
    assert n > 2_000
    assert after > 100 > before
    assert len(passages.data["rows"]) == 10


def test_two_sentences_are_compared_and_a_cell_leads_to_its_neuron() -> None:
    first = drawn("neurons", "compare", text=TEXT)
    example = first.pressed("Try “The dog is …” and “The dogs are …”")
    assert isinstance(example, ShowState)
    texts = example.state.sentence, dict(example.state.settings).get("other", "")
    assert texts == ("The dog is in the house.", "The dogs are in the house.")
    shown = drawn("neurons", "compare", text=texts[0], other=texts[1])
    one, two = (load("relu").trace(text).blocks[1].ffn.hidden.numpy() for text in texts)
    row, neuron = np.unravel_index(int(np.abs(two - one).argmax()), one.shape)
    said = words(shown.cells["compared"])
    assert f"Neuron 2:{neuron} differs most" in said
    assert f"{one[row, neuron]:.2f} → {two[row, neuron]:.2f}" in said
    assert f"moves by {np.linalg.norm(two[5] - one[5]):.2f}" in words(shown.cells["pair"])
    for key, most in (("compared", int(neuron)), ("pair", int(np.abs(two - one)[5].argmax()))):
        click = shown.cells[key].events["point"]
        assert click(most) == OpenNeuron(Neuron("relu", 1, most), "neurons", "wakes")


def test_any_second_sentence_is_compared_and_without_one_it_is_asked_for() -> None:
    for other in ("👩\u200d👩\u200d👧", "x " * 300, "a"):
        shown = drawn("neurons", "compare", text=TEXT, other=other)
        assert shown.controls["Second sentence"]["text"] == other[:500]
        assert ("only the first 128 tokens" in shown.said) == (other.startswith("x "))
    empty = drawn("neurons", "compare", text=TEXT, other="")
    assert empty.said == "Type a second sentence to compare the first with."


@cache
def fact_of(text: str, twin: str = "relu") -> tuple[Drawn, Located]:
    """The view of a fact, and what it has located: once for all who ask for the same."""
    results: list[Located] = []

    def recorded(run: Run, progress: Progress) -> Located:
        results.append(locate(run, progress))
        return results[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fact, "locate", recorded)
        shown = drawn("neurons", "switch", True, switch_view="fact", text=text, twin=twin)
    return shown, results[0]


@pytest.fixture
def run() -> Run:
    return fact_of(HIDDEN, "gelu")[0].run


@pytest.fixture
def found() -> Located:
    return fact_of(HIDDEN, "gelu")[1]


def chance(logits: Tensor, found: Located) -> float:
    return float(logits.double().softmax(-1)[int(found.plain.ids[0])])


def test_an_ffn_off_at_one_token_or_all_is_its_output_missing(run: Run, found: Located) -> None:
    word = found.plain.words[0]
    for block, record in enumerate(run.whole.blocks):
        for token in range(len(run.whole.tokens)):
            output = record.ffn.output.clone()
            output[token] = 0
            logits = logits_with_ffn_output(run.model, run.whole, block, output, run.place)
            assert found.alone[block, 1, token] == pytest.approx(chance(logits, found), rel=1e-3)
        without = predict_without_ffn(run.model, run.whole, block, run.place, k=8_192)
        expected = without.probabilities[without.words.index(word)]
        assert found.everywhere[block, 1] == pytest.approx(float(expected), rel=1e-3)


@torch.inference_mode()
def test_attention_off_at_one_token_leaves_its_stream_as_it_was(run: Run, found: Located) -> None:
    assert isinstance(run.model, Model)
    encoder = run.model.encoder
    for block, record in enumerate(run.whole.blocks):
        for token in range(len(run.whole.tokens)):
            middle = record.middle.clone()
            middle[token] = record.input[token]
            own = encoder.blocks[block]
            x = middle + own.ffn(own.ffn_norm(middle)).output
            for later in list(encoder.blocks)[block + 1 :]:
                x = later(x).output
            logits = encoder.unembed(encoder.final_norm(x))[run.place]
            assert found.alone[block, 0, token] == pytest.approx(chance(logits, found), rel=1e-3)


def test_the_neurons_off_are_a_network_without_their_weights(run: Run, found: Located) -> None:
    assert isinstance(run.model, Model)
    model = replace(run.model, encoder=copy.deepcopy(run.model.encoder))
    with torch.no_grad():
        for block, neuron in found.neurons:
            model.encoder.blocks[block].ffn.compress.weight[:, neuron] = 0
    cut = predict(model, model.trace(HIDDEN), run.place)
    assert cut.words == found.without.words
    assert_allclose(cut.probabilities, found.without.probabilities, rtol=1e-3)
    others = [each for each in read_facts()[:: fact.EVERY] if each.answer != found.plain.words[0]]
    known = said(run.model, others)
    assert (found.asked, found.known) == (len(others), known.sum())
    assert found.kept == (said(model, others) & known).sum()


def test_as_few_neurons_as_do_it_are_switched_off(run: Run, found: Located) -> None:
    n = len(found.neurons)
    assert n in fact.COUNTS
    assert found.taken or n == max(fact.COUNTS)
    assert len(set(found.neurons)) == n
    for count in fact.COUNTS[: fact.COUNTS.index(n)]:
        edits = switched_off(found.neurons[:count])
        assert (
            predict(run.model, run.model.trace(HIDDEN, edits), run.place).ids[0]
            == (found.plain.ids[0])
        )


def test_a_fact_is_said_if_the_likeliest_word_is_its_answer(run: Run) -> None:
    guess = predict(run.model, run.whole, run.place).words[0].strip()
    asked = [Fact("door", "it", answer, (), (HIDDEN,)) for answer in (guess, "seven")]
    assert said(run.model, asked).tolist() == [True, False]
    longer = Fact("door", "it", guess, (), (f"So: {HIDDEN}",))
    expected = run.model.trace(longer.held_out[0])
    place = next(i for i, t in enumerate(expected.tokens) if t.id == run.model.tokenizer.mask_id)
    right = predict(run.model, expected, place).words[0].strip() == guess
    assert said(run.model, [asked[1], longer, asked[0]]).tolist() == [False, right, True]


@pytest.mark.parametrize("text", ["The opposite of hot is [MASK].", "[MASK]", "It rains."])
def test_the_page_says_what_was_found(text: str) -> None:
    part, result = fact_of(text)
    word = result.plain.words[0].strip()
    assert f"The likeliest word, “{word}”" in words(part.cells["fact-map"])
    said_of = words(part.cells["fact-words"])
    assert f"Of {result.asked} other facts, the network knows {result.known}," in said_of
    assert ("stays likeliest" in said_of) == (not result.taken)
