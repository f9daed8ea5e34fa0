"""Two sentences side by side, and names put to the test, against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.neurons.compare import compare, pairs
from ffnviz.parts.neurons.name import probe_inputs, score_tag, score_words, word_values
from tests.analysis.networks import small_model

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


def test_a_changed_word_is_paired_with_what_it_was() -> None:
    one, two = [5, 6, 7, 8], [5, 9, 7, 8]
    assert pairs(one, two).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_a_word_put_in_shifts_the_rest() -> None:
    assert pairs([5, 6, 7], [5, 9, 6, 7]).tolist() == [[0, 0], [1, 2], [2, 3]]
    assert pairs([5, 6, 7], [7]).tolist() == [[2, 0]]
    assert pairs([5], [6, 7]).tolist() == [[0, 0]]


@given(st.lists(st.integers(0, 4), max_size=12), st.lists(st.integers(0, 4), max_size=12))
def test_pairs_go_forward_on_both_sides_and_use_no_token_twice(
    one: list[int], two: list[int]
) -> None:
    found = pairs(one, two)
    assert (np.diff(found, axis=0) > 0).all()
    assert all(a < len(one) and b < len(two) for a, b in found)


def test_the_neurons_that_differ_most_are_found(model: Model) -> None:
    first, second = model.trace("The cat is"), model.trace("The door is")
    found = compare(first, second, block=1, k=5)
    a = first.blocks[1].ffn.hidden.numpy()[found.pairs[:, 0]]
    b = second.blocks[1].ffn.hidden.numpy()[found.pairs[:, 1]]
    most = np.abs(b - a).max(axis=0)
    assert found.neurons.tolist() == np.argsort(-most)[:5].tolist()
    np.testing.assert_array_equal(found.difference, (b - a)[:, found.neurons])
    on_one = compare(first, second, block=1, k=3, pair=0)
    assert on_one.neurons.tolist() == np.argsort(-np.abs(b - a)[0])[:3].tolist()


def test_a_sentence_does_not_differ_from_itself(model: Model) -> None:
    trace = model.trace("The cat is")
    assert not compare(trace, trace, block=0).difference.any()


def values_by_hand(model: Model, block: int, neuron: int) -> list[list[tuple[str, float]]]:
    """Each sentence's words, and how far from zero it is on the tokens that end in them."""
    told = []
    for probe in PROBES:
        trace = model.trace(probe.text)
        hidden = trace.blocks[block].ffn.hidden[:, neuron].abs().tolist()
        spelled = probe.text.replace(",", " ,").replace(".", " .").replace("!", " !")
        words = spelled.replace("?", " ?").split()
        starts: list[tuple[int, int]] = []
        at = 0
        for word in words:
            at = probe.text.index(word, at)
            starts.append((starts[-1][1] if starts else -1, at + len(word)))
            at += len(word)
        sentence = []
        for word, (start, end) in zip(words, starts, strict=True):
            mine = [h for h, t in zip(hidden, trace.tokens, strict=True) if start < t.end <= end]
            sentence.append((word, max(mine)))
        told.append(sentence)
    return told


@pytest.mark.parametrize("neuron", [0, 13, 31])
def test_each_word_has_the_value_furthest_from_zero_of_its_tokens(
    model: Model, neuron: int
) -> None:
    read = probe_inputs(model, PROBES)
    values = word_values(model, read, 2, neuron)
    found: dict[str, list[tuple[str, float]]] = {text: [] for text in read.sentences}
    for word, value in zip(read.words, values, strict=True):
        found[read.sentences[word.sentence]].append((word.text, float(value)))
    for probe, expected in zip(PROBES, values_by_hand(model, 2, neuron), strict=True):
        assert [word for word, _ in found[probe.text]] == [word for word, _ in expected]
        np.testing.assert_allclose(
            [v for _, v in found[probe.text]], [v for _, v in expected], rtol=1e-3, atol=1e-5
        )


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


def test_a_guess_that_names_nothing_has_no_precision(model: Model) -> None:
    read = probe_inputs(model, PROBES)
    values = word_values(model, read, 1, 5)
    assert score_words(read, values, 0.0, []).precision is None
    assert score_tag(read, values, 0.0, "no such tag").precision is None
    assert score_words(read, values, float("inf"), ["the"]).recall is None
