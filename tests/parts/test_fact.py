"""Where is a fact?, against passes of the modules by hand and a network with weights removed."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.facts import Fact, read_facts
from ffnviz.analysis.prediction import logits_with_ffn_output, predict, predict_without_ffn
from ffnviz.models.encoder.model import Model
from ffnviz.parts.neurons import fact
from ffnviz.parts.neurons.fact import Located, locate, said, switched_off
from ffnviz.state.run import Run
from tests.parts.sheets import Drawn, drawn, words

TEXT = "She opened the [MASK] and looked out."


def shown(text: str = TEXT, twin: str = "relu") -> Drawn:
    return drawn("neurons", "switch", True, switch_view="fact", text=text, twin=twin)


@pytest.fixture(scope="module", params=["relu", "gelu"])
def run(request: pytest.FixtureRequest) -> Run:
    return shown(twin=request.param).run


@pytest.fixture(scope="module")
def found(run: Run) -> Located:
    return locate(run, lambda _: None)


def chance(logits: Tensor, found: Located) -> float:
    return float(logits.double().softmax(-1)[int(found.plain.ids[0])])


def test_an_ffn_off_at_one_token_or_at_all_is_what_its_missing_output_makes(
    run: Run, found: Located
) -> None:
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
def test_attention_off_at_one_token_leaves_the_stream_there_as_it_was(
    run: Run, found: Located
) -> None:
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
    cut = predict(model, model.trace(TEXT), run.place)
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
            predict(run.model, run.model.trace(TEXT, edits), run.place).ids[0]
            == (found.plain.ids[0])
        )


def test_a_fact_is_said_if_the_likeliest_word_is_its_answer(run: Run) -> None:
    guess = predict(run.model, run.whole, run.place).words[0].strip()
    asked = [Fact("door", "it", answer, (), (TEXT,)) for answer in (guess, "seven")]
    assert said(run.model, asked).tolist() == [True, False]
    longer = Fact("door", "it", guess, (), (f"So: {TEXT}",))
    expected = run.model.trace(longer.held_out[0])
    place = next(i for i, t in enumerate(expected.tokens) if t.id == run.model.tokenizer.mask_id)
    right = predict(run.model, expected, place).words[0].strip() == guess
    assert said(run.model, [asked[1], longer, asked[0]]).tolist() == [False, right, True]


@pytest.mark.parametrize("text", [TEXT, "The opposite of hot is [MASK].", "[MASK]", "It rains."])
def test_the_page_says_what_was_found(text: str) -> None:
    part = shown(text)
    result = locate(part.run, lambda _: None)
    word = result.plain.words[0].strip()
    assert f"The likeliest word, “{word}”" in words(part.cells["fact-map"])
    said_of = words(part.cells["fact-words"])
    assert f"Of {result.asked} other facts, the network knows {result.known}," in said_of
    assert ("stays likeliest" in said_of) == (not result.taken)
    assert "Try “The opposite of hot is …”" in part.controls
    assert np.isfinite(result.alone).all()
    assert result.alone.shape == (part.run.model.sizes.n_blocks, 2, len(part.run.whole.tokens))
