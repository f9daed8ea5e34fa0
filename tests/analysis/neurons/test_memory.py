"""Single neurons: what they read and write, two sentences side by side, names put to the test."""

import re
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.neurons import memory
from ffnviz.analysis.neurons.index_file import INDEXES, read_index
from ffnviz.analysis.neurons.memory import key_matches, written_ids, written_words
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.neurons.activations import holm, hypergeometric_tail, tag_counts
from ffnviz.parts.neurons.arithmetic import logit, output_component, pre_activation
from ffnviz.parts.neurons.compare import compare, pairs
from ffnviz.parts.neurons.name import probe_inputs, score_tag, score_words, word_values
from ffnviz.parts.neurons.writes import attention_memory, ffn_memory, keys_moved
from tests.analysis.networks import ours, small_model


def test_rarely_seen_words_are_never_listed(tokenizer: Tokenizer) -> None:
    """Which words these are is in tests/analysis/test_any_network.py."""
    neurons, k = np.arange(4), tokenizer.vocab_size
    for norm in ("pre", "post"):
        model = small_model(tokenizer, norm)
        for neuron, ids in zip(neurons, written_ids(model, 1, neurons, k), strict=True):
            assert ids.tolist() == written_words(model, 1, int(neuron), k)[0].ids.tolist()
    counts = torch.full((tokenizer.vocab_size,), memory.OFTEN_ENOUGH - 1)
    counts[[40, 50, 60]] = memory.OFTEN_ENOUGH
    model = replace(model, token_counts=counts)
    promoted, suppressed = written_words(model, block=0, neuron=1, k=10)
    for told in (promoted, suppressed, key_matches(model, block=0, neuron=1, k=10)):
        assert sorted(told.ids) == [40, 50, 60]


TEXT = "The cat sat on the [MASK]."


def test_the_terms_the_rest_and_the_bias_add_up_to_the_number(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    trace = model.trace(TEXT)
    ffn = trace.blocks[1].ffn
    for found, number in (
        (pre_activation(model, trace, 1, 4, 20), ffn.pre_activation[4, 20]),
        (output_component(model, trace, 1, 4, 11), ffn.output[4, 11]),
        (logit(model, trace, 4, 77), trace.logits_at(4)[77]),
    ):
        assert found.total == float(number)
        shown = sum(float(found.left[i]) * float(found.right[i]) for i in found.largest)
        assert shown + found.rest + found.bias == pytest.approx(float(number), abs=1e-5)
        products = found.left.astype(float) * found.right
        above = sorted((v for v in products if v > 0), reverse=True)[:6]
        below = sorted((v for v in products if v < 0), reverse=True)[-6:]
        np.testing.assert_allclose(products[found.largest], above + below)


KINDS: dict[str, dict[str, object]] = {
    "ReLU": {},
    "gated": {"activation": "swiglu"},
    "causal": {"causal": True},
    "no biases": {"bias": False},
    "post-LN": {"norm": "post"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_is_written_adds_up_to_the_traces_output(tokenizer: Tokenizer, kind: str) -> None:
    model = ours(tokenizer, **KINDS[kind])
    trace = model.trace("The cat sat on the mat.")
    for block in (0, 1):
        record = trace.blocks[block]
        attention = attention_memory(model, trace, block, 3)
        torch.testing.assert_close(attention.output, record.attention.output[3])
        ffn = ffn_memory(model, trace, block, 3)
        torch.testing.assert_close(ffn.output, record.ffn.output[3])
        if kind != "causal":
            torch.testing.assert_close(attention.match.softmax(dim=-1), attention.weight)


def test_the_strongest_change_the_output_most(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    found = attention_memory(model, model.trace("The cat sat on the mat."), 0, 2)
    lengths = found.written.norm(dim=-1)
    strongest = [float(lengths[head, token]) for head, token in found.strongest(3)]
    assert strongest == lengths.flatten().sort(descending=True).values[:3].tolist()


def test_another_word_moves_attentions_key_and_no_key_of_the_ffn() -> None:
    model = load("relu")
    one, two = (model.trace(f"The {word} sat on the mat.") for word in ("cat", "dog"))
    pairs = np.stack([np.arange(7), np.arange(7)], axis=1)
    moved = keys_moved(one, two, 0, pairs)
    # In the first block a token's key is made of its own embedding alone.
    assert moved[1] > 0.1
    assert moved[[0, 2, 3, 4, 5, 6]].max() < 1e-5
    weights = model.encoder.blocks[0].attention.project_in.weight
    d = weights.shape[1]
    keys = [each.blocks[0].attention.input[1] @ weights[d : 2 * d].mT for each in (one, two)]
    bias = model.encoder.blocks[0].attention.project_in.bias[d : 2 * d]
    expected = (keys[1] - keys[0]).norm() / (keys[0] + bias).norm()
    assert moved[1] == pytest.approx(float(expected), rel=1e-4)


PROBES = [
    Probe("The cat sat on the mat.", ("animals", "past")),
    Probe("She had opened the door, and then she had gone.", ("past",)),
    Probe("Where is the cat?", ("animals", "question")),
    Probe("It's a long way to the dog's house!", ("animals",)),
    Probe("So they sat.", ("past",)),
]


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, "pre", "gelu")


def test_a_changed_word_is_paired_with_what_it_was_and_one_put_in_shifts_the_rest() -> None:
    assert pairs([5, 6, 7, 8], [5, 9, 7, 8]).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert pairs([5, 6, 7], [5, 9, 6, 7]).tolist() == [[0, 0], [1, 2], [2, 3]]
    assert pairs([5, 6, 7], [7]).tolist() == [[2, 0]]
    assert pairs([5], [6, 7]).tolist() == [[0, 0]]


@given(st.lists(st.integers(0, 4), max_size=12), st.lists(st.integers(0, 4), max_size=12))
def test_pairs_go_forward_and_use_no_token_twice(one: list[int], two: list[int]) -> None:
    found = pairs(one, two)
    assert (np.diff(found, axis=0) > 0).all()
    assert all(a < len(one) and b < len(two) for a, b in found)


def test_the_neurons_that_differ_most_are_found(model: Model) -> None:
    first, second = model.trace("The cat is"), model.trace("The door is")
    found = compare(first, second, block=1, k=5)
    a = first.blocks[1].ffn.hidden.numpy()[found.pairs[:, 0]]
    b = second.blocks[1].ffn.hidden.numpy()[found.pairs[:, 1]]
    assert found.neurons.tolist() == np.argsort(-np.abs(b - a).max(axis=0))[:5].tolist()
    np.testing.assert_array_equal(found.difference, (b - a)[:, found.neurons])
    on_one = compare(first, second, block=1, k=3, pair=0)
    assert on_one.neurons.tolist() == np.argsort(-np.abs(b - a)[0])[:3].tolist()


def values_by_hand(model: Model, block: int, neuron: int) -> list[list[tuple[str, float]]]:
    """Each sentence's words, and how far from zero it is on the tokens that end in them."""
    told = []
    for probe in PROBES:
        trace = model.trace(probe.text)
        hidden = trace.blocks[block].ffn.hidden[:, neuron].abs().tolist()
        sentence: list[tuple[str, float]] = []
        start, end = -1, 0
        for word in re.sub("([,.!?])", r" \1", probe.text).split():
            end = probe.text.index(word, end) + len(word)
            mine = [h for h, t in zip(hidden, trace.tokens, strict=True) if start < t.end <= end]
            sentence.append((word, max(mine)))
            start = end
        told.append(sentence)
    return told


@pytest.mark.parametrize("neuron", [0, 13, 31])
def test_each_word_has_the_furthest_value_of_its_tokens(model: Model, neuron: int) -> None:
    read = probe_inputs(model, PROBES)
    values = word_values(model, read, 2, neuron)
    for probe, expected in zip(PROBES, values_by_hand(model, 2, neuron), strict=True):
        at = read.sentences.index(probe.text)
        found = [(w.text, float(v)) for w, v in zip(read.words, values, strict=True)
                 if w.sentence == at]  # fmt: skip
        assert [word for word, _ in found] == [word for word, _ in expected]
        told, by_hand = ([value for _, value in each] for each in (found, expected))
        np.testing.assert_allclose(told, by_hand, rtol=1e-3, atol=1e-5)


def test_precision_and_recall_are_counted_right(model: Model) -> None:
    read = probe_inputs(model, PROBES)
    values = word_values(model, read, 1, 5)
    # In the widest gap of the middle half: no value is so close that its last bits decide.
    middle = np.sort(values)[len(values) // 4 : -len(values) // 4]
    widest = int(np.diff(middle).argmax())
    level = float(middle[widest : widest + 2].mean())
    by_hand = [(w, v > level) for s in values_by_hand(model, 1, 5) for w, v in s]
    found = score_words(read, values, level, ["THE", "cat"])
    guessed = [fires for word, fires in by_hand if word.lower() in ("the", "cat")]
    fired = [word for word, fires in by_hand if fires]
    assert (found.guessed, found.fired, found.both) == (len(guessed), len(fired), sum(guessed))
    assert found.precision == sum(guessed) / len(guessed)
    assert found.recall == sum(guessed) / len(fired)
    assert found.chance == len(fired) / len(by_hand)
    curly = score_words(read, values, level, ["it’s"])
    assert curly == score_words(read, values, level, ["It's"])
    assert curly.guessed == 1, "however its apostrophe is typed"
    tagged = score_tag(read, values, level, "animals")
    fires = [any(v > level for _, v in s) for s in values_by_hand(model, 1, 5)]
    both = sum(f for f, p in zip(fires, PROBES, strict=True) if "animals" in p.tags)
    assert (tagged.guessed, tagged.fired, tagged.both, tagged.n) == (3, sum(fires), both, 5)
    # A guess that names nothing has no precision.
    assert score_words(read, values, 0.0, []).precision is None
    assert score_tag(read, values, 0.0, "no such tag").precision is None
    assert score_words(read, values, float("inf"), ["the"]).recall is None


def exact(both: int, n_all: int, n_tag: int, n_fired: int) -> float:
    total = sum(
        comb(n_tag, k) * comb(n_all - n_tag, n_fired - k)
        for k in range(both, min(n_tag, n_fired) + 1)
        if n_fired - k <= n_all - n_tag
    )
    return float(Fraction(total, comb(n_all, n_fired)))


@given(st.data())
def test_the_tail_is_the_exact_fraction(data: st.DataObject) -> None:
    n_all = data.draw(st.integers(1, 400))
    n_tag, n_fired = data.draw(st.integers(0, n_all)), data.draw(st.integers(0, n_all))
    both = data.draw(st.integers(max(0, n_tag + n_fired - n_all), min(n_tag, n_fired)))
    found = hypergeometric_tail(both, n_all, n_tag, n_fired)
    assert found == pytest.approx(exact(both, n_all, n_tag, n_fired), rel=1e-8)


def test_holms_correction_by_hand() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(holm(p), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.5, 0.9])), [1.0, 1.0])


def test_a_neurons_tags_are_counted_and_ordered() -> None:
    index = read_index(INDEXES / "relu.npz", 2_048, 2)
    counts = tag_counts(index, block=1, neuron=0)
    assert [c.p for c in counts] == sorted(c.p for c in counts)
    for c in counts:
        row = index.tags.index(c.tag)
        assert (c.fired, c.n) == (index.blocks[1].by_tag[row, 0], index.with_tag[row])
        others = index.blocks[1].texts[0] - c.fired
        assert c.share_elsewhere == pytest.approx(others / (index.n_texts - c.n))
        assert c.corrected >= c.p
