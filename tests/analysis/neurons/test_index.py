"""The neuron index against counting sentence by sentence; the probe set; the shipped files."""

import json
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ffnviz.analysis.neurons import counting
from ffnviz.analysis.neurons.counting import EXAMPLES, BlockPart, empty
from ffnviz.analysis.neurons.gathering import LONGEST, TokenClass, batches
from ffnviz.analysis.neurons.index_file import INDEXES, LOW, read_index
from ffnviz.analysis.neurons.neuron_index import (
    BlockIndex,
    NeuronIndex,
    build_index,
    interpretable_neurons,
)
from ffnviz.analysis.neurons.probes import Probe, ProbesError, read_probes, split
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.model import TWINS, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import Stranger, ours, small_model

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "she", "had", "gone", "river", "two dogs"]
TAGS = ("even", "long", "odd")


def made_up(n: int) -> list[Probe]:
    rng = np.random.default_rng(7)
    probes = []
    for number in range(n):
        size = int(rng.integers(1, 12))
        tags = ["even" if number % 2 == 0 else "odd"] + (["long"] if size > 7 else [])
        probes.append(Probe(" ".join(rng.choice(WORDS, size)) + ".", tuple(tags)))
    return probes


def kind_of(word: str) -> TokenClass:
    """Of texts of made_up, which have no numbers."""
    if word.isalpha():
        return TokenClass.REST
    signs = {"": TokenClass.OTHER, ".": TokenClass.SIGN}
    return signs.get(word.strip(), TokenClass.WORD)


@pytest.mark.parametrize("activation", ["relu", "gelu", "reglu"])
def test_counts_are_those_of_the_texts_one_by_one(tokenizer: Tokenizer, activation: str) -> None:
    model, probes = small_model(tokenizer, "pre", activation), made_up(40)
    index = build_index(model, iter(probes), TAGS, "made up")
    assert index.threshold == (0.1 if activation == "gelu" else 0.0)
    assert index.both_sides == (activation != "relu")
    hidden = [[b.ffn.hidden.numpy() for b in model.trace(p.text).blocks] for p in probes]
    of_text = dict(zip([probe.text for probe in probes], hidden, strict=True))
    assert index.n_texts == 40
    assert index.n_tokens == sum(len(h[0]) for h in hidden)
    assert index.with_tag.tolist() == [sum(tag in p.tags for p in probes) for tag in TAGS]
    encoded = [tokenizer.encode(probe.text).tokens for probe in probes]
    classes = [kind_of(tokenizer.word(token.id)) for tokens in encoded for token in tokens]
    for number, block in enumerate(index.blocks):
        fires = [(h[number] > index.threshold) | (h[number] < -index.threshold) for h in hidden]
        for position in range(len(index.at_position)):
            expected = sum(f[position].astype(int) for f in fires if len(f) > position)
            np.testing.assert_array_equal(block.by_position[position], expected)
        by_class = np.zeros_like(block.by_class)
        np.add.at(by_class, np.array(classes), np.concatenate(fires))
        np.testing.assert_array_equal(block.by_class, by_class)
        np.testing.assert_array_equal(block.fired_texts, sum(f.any(0).astype(int) for f in fires))
        assert set(block.sides) == ({1, -1} if index.both_sides else {1})
        for sign, (in_texts, by_tag) in block.sides.items():
            far = [(sign * h[number] > index.threshold).any(0).astype(int) for h in hidden]
            np.testing.assert_array_equal(in_texts, sum(far))
            for row, tag in enumerate(TAGS):
                wanted = [f for f, p in zip(far, probes, strict=True) if tag in p.tags]
                np.testing.assert_array_equal(by_tag[row], sum(wanted))
        sides = [(1, block.values, block.examples, block.tokens)]
        sides += [(-1, block.low_values, block.low_examples, block.low_tokens)] * index.both_sides
        for sign, found, examples, tokens in sides:
            furthest = np.array([(sign * h[number]).max(axis=0) for h in hidden])  # (n_texts, d_ff)
            furthest[furthest <= index.threshold] = -np.inf
            best = sign * -np.sort(-furthest, axis=0)[:EXAMPLES]
            np.testing.assert_allclose(found, best, rtol=1e-4, atol=1e-6)
            for rank, neuron in np.argwhere(np.isfinite(found))[::13]:
                values = sign * of_text[index.texts[examples[rank, neuron]]][number][:, neuron]
                most = float(values.max())
                assert most == pytest.approx(sign * found[rank, neuron], abs=1e-4)
                assert float(values[tokens[rank, neuron]]) == pytest.approx(most, abs=1e-4)
    with pytest.raises(ValueError, match="no texts"):
        build_index(model, [], TAGS, "none")
    with pytest.raises(ValueError, match="“new” is not among"):
        build_index(model, [Probe("the cat", ("new",))], TAGS, "none")


def test_whether_hidden_can_be_below_zero_is_what_the_function_says() -> None:
    for phi in ACTIVATIONS.values():
        values = phi.function(torch.linspace(-12, 12, 4_801))
        assert phi.below_zero == bool((values < 0).any()), phi.name
    # Of a value too large for the file the side is kept.
    nothing = np.zeros((1, 1), np.int32)
    many = dict.fromkeys(BlockIndex.__dataclass_fields__, nothing)
    sides = {"values": np.array([[np.inf]], np.float16), "low_values": np.array([[np.inf]])}
    (only,) = BlockIndex(**{**many, **sides}).strongest(0)
    assert only.value == np.inf


def test_the_strongest_are_furthest_from_zero_some_of_each_side(tokenizer: Tokenizer) -> None:
    net = Stranger(tokenizer)
    texts = [f"{a} {b}." for a in ("the cat", "a dog", "she") for b in ("sat", "is", "was", "ran",
             "had", "has", "will", "can")]  # fmt: skip
    block = build_index(net, [Probe(text, ()) for text in texts], (), "made up").blocks[0]
    hidden = [net.trace(text).blocks[0].ffn.hidden.numpy() for text in texts]
    some_below = 0
    for neuron in range(net.sizes.d_ff):
        high = [h[:, neuron].max() for h in hidden if h[:, neuron].max() > 0.1]
        low = [h[:, neuron].min() for h in hidden if h[:, neuron].min() < -0.1]
        expected = sorted(map(abs, high + low), reverse=True)[:12]
        values = [each.value for each in block.strongest(neuron)]
        assert [abs(value) for value in values] == pytest.approx(expected, rel=1e-3)
        mixed = [each.value for each in block.strongest(neuron, 4)]
        assert sum(value > 0 for value in mixed) >= min(4, len(high))
        assert sum(value < 0 for value in mixed) >= min(4, len(low))
        assert len(mixed) == len(values)
        some_below += any(value < 0 for value in values)
    assert some_below > net.sizes.d_ff / 2


def test_a_batch_has_one_length_and_longer_texts_are_cut(tokenizer: Tokenizer) -> None:
    long = " ".join(WORDS * 40)
    whole = tokenizer.encode_many([long])[0]
    found = list(batches([Probe(long, ())], tokenizer, 20))
    assert max(batch.ids.shape[1] for batch in found) <= 20
    pieces = sorted((n, p.text) for b in found for n, p in zip(b.numbers, b.probes, strict=True))
    assert "".join(text for _, text in pieces).replace(" ", "") == long.replace(" ", "")
    assert abs(sum(batch.ids.numel() for batch in found) - len(whole)) <= len(pieces)
    assert {word for _, text in pieces for word in text.split()} <= set(long.split())
    no_end = "the cat " + "x" * 400
    cut = [p.text for b in batches([Probe(no_end, ())], tokenizer, 20) for p in b.probes]
    assert sorted("".join(cut).replace(" ", "")) == sorted(no_end.replace(" ", ""))
    seen: list[int] = []
    for batch in batches(made_up(300), tokenizer, 128, batch_tokens=100):
        assert batch.ids.numel() <= 100
        assert batch.ids.tolist() == tokenizer.encode_many([p.text for p in batch.probes])
        seen += batch.numbers
    assert sorted(seen) == list(range(300))


def test_memory_does_not_grow_with_the_corpus(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for a batch or is an example is kept, and no more."""
    alive, most = 0, 0

    class Counted(str):
        def __new__(cls, text: str) -> "Counted":
            nonlocal alive
            alive += 1
            return super().__new__(cls, text)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def watch(_tokens: int) -> None:
        nonlocal most
        most = max(most, alive)

    monkeypatch.setattr(counting, "TEXTS", counting.TEXTS // 8)
    texts = (Probe(Counted(probe.text), probe.tags) for probe in made_up(6_000))
    model = ours(tokenizer, n_blocks=1, activation="gelu")  # which keeps both sides
    assert build_index(model, texts, TAGS, "many", watch).n_texts == 6_000
    assert most < 4_500


def of_version_2(path: Path) -> None:
    """What a file had before both sides were counted."""
    with np.load(path) as arrays:
        about = json.loads(arrays["about"].tobytes()) | {"version": 2}
        new = [f"{n}.{name}" for n in about["numbers"] for name in LOW]
        kept = {name: values for name, values in arrays.items() if name not in new}
    kept["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez_compressed(path, **kept)


def same_but_for_rounding(shipped: NeuronIndex, rebuilt: NeuronIndex) -> bool:
    """A value that is zero but for rounding may fire on one machine and not on another."""
    equal = [
        getattr(shipped, name) == getattr(rebuilt, name)
        for name in ("source", "threshold", "n_texts", "tags", "n_tokens")
    ]
    equal += [
        np.array_equal(shipped.at_position, rebuilt.at_position),
        np.array_equal(shipped.with_tag, rebuilt.with_tag),
    ]
    for one, two in zip(shipped.blocks, rebuilt.blocks, strict=True):
        for counts in ("by_position", "by_tag", "texts", "low_texts", "low_by_tag", "both_texts"):
            mine, theirs = getattr(one, counts), getattr(two, counts)
            equal.append(np.abs(mine - theirs).sum() <= 2e-5 * theirs.sum() + 1)
        equal.append(np.allclose(one.values, two.values, rtol=2e-3, atol=2e-3))
        equal.append(np.allclose(one.low_values, two.low_values, rtol=2e-3, atol=2e-3))
        same = np.array(shipped.texts)[one.examples] == np.array(rebuilt.texts)[two.examples]
        equal.append(same.mean() > 0.995)  # texts of equal value may change places
    return all(equal)


@pytest.mark.parametrize("twin", TWINS)
def test_the_shipped_index_is_what_the_command_builds_of_these_weights(twin: str) -> None:
    model = load(twin)
    probes, _ = split(read_probes())
    tags = tuple(sorted({tag for probe in probes for tag in probe.tags}))
    shipped = read_index(INDEXES / f"{twin}.npz", model.sizes.d_ff, model.sizes.n_blocks)
    rebuilt = build_index(model, probes, tags, f"{len(probes):,} sentences of our probe set")
    assert same_but_for_rounding(shipped, rebuilt)
    first, *others = shipped.blocks
    edited = replace(shipped, blocks=(replace(first, texts=first.texts + 1), *others))
    assert not same_but_for_rounding(edited, rebuilt)
    assert shipped.network == model.fingerprint
    provenance = model.card.provenance
    assert provenance is not None
    assert provenance.index == INDEXES / f"{twin}.npz"
    assert sum(path.stat().st_size for path in INDEXES.glob("*.npz")) < 3e6


def test_there_are_probes_enough_of_many_kinds_and_none_twice() -> None:
    probes = read_probes()
    texts = [probe.text for probe in probes]
    assert len(set(texts)) == len(texts) >= 1_000
    assert all(probe.tags and len(set(probe.tags)) == len(probe.tags) for probe in probes)
    counts = Counter(tag for probe in probes for tag in probe.tags)
    assert len(counts) > 60
    assert min(counts.values()) >= 10
    for tag, sign in (("question", "?"), ("exclamation", "!"), ("quotation", '"'), ("comma", ",")):
        for probe in probes:
            assert (tag in probe.tags) == (sign in probe.text), probe
    shown, held_back = split(probes)
    assert sorted(p.text for p in shown + held_back) == sorted(texts)
    of_held_back = Counter(tag for probe in held_back for tag in probe.tags)
    for tag in ("animals", "past", "question", "food", "negation"):
        assert of_held_back[tag] == pytest.approx(counts[tag] / 4, rel=0.3, abs=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read"),
        ("words\nA cat.\tanimals\n", "line 1"),
        ("sentence\ttags\nA cat.\tanimals\nA dog.\n", "line 3: it needs a sentence, a tab"),
        ("sentence\ttags\n \tanimals\n", "line 2"),
    ],
)
def test_a_table_that_holds_no_probes_says_where(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "probes.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(ProbesError, match=message):
        read_probes(tmp_path / "probes.tsv")


def test_a_token_far_back_in_a_text_is_found_again(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer, max_tokens=400, d_ff=8)
    text = "[MASK]" * 120
    index = build_index(model, [Probe(text, ())], (), "one long text")
    hidden = model.trace(text).blocks[0].ffn.hidden.numpy()
    last = hidden.argmax(axis=0)
    assert last.max() > 60  # or the test would show nothing
    found = index.blocks[0].tokens[0].astype(int)
    np.testing.assert_allclose(hidden[found, range(8)], hidden.max(axis=0), rtol=1e-4, atol=1e-5)


def test_counts_need_little_memory_however_wide_the_network() -> None:
    counts = empty(n_blocks=1, d_ff=14_336, n_positions=LONGEST, n_classes=5, n_tags=0, signed=True)
    held = sum(getattr(counts.blocks[0], f.name).nbytes for f in fields(BlockPart))
    assert held < 100 * 2**20


TEXTS = tuple(f"text {place}" for place in range(100))
OF_TOKEN = {0: ["forty"] * 12, 1: list("abcdefghijkl"), 2: ["the"] * 12}


def told(fired: list[int], by_tag: list[list[int]]) -> NeuronIndex:
    """Two tags of 20 texts each, three neurons; every neuron's examples are its first texts."""
    d_ff = len(fired)
    nothing = np.zeros((0, d_ff), np.int32)
    counts: dict[str, Any] = dict.fromkeys(BlockIndex.__dataclass_fields__, nothing) | {
        "texts": np.array(fired, np.int32),
        "by_tag": np.array(by_tag, np.int32),
        "values": np.ones((12, d_ff), np.float32),
        "examples": np.tile(np.arange(12, dtype=np.int32)[:, None], (1, d_ff)),
        "tokens": np.tile(np.arange(d_ff, dtype=np.int32)[None], (12, 1)),
        "low_texts": np.zeros(d_ff, np.int32),
        "both_texts": np.zeros(d_ff, np.int32),
    }
    tags, with_tag, blocks = ("numbers", "sea"), np.array([20, 20]), (BlockIndex(**counts),)
    at_position, of_class = np.array([100]), np.zeros(5, np.int64)
    counted = ("our texts", 0.0, 100, at_position, of_class, tags, with_tag, TEXTS)
    return NeuronIndex(*counted, blocks, (0,))


def word(text: str, token: int) -> str:
    return OF_TOKEN[token][int(text.split()[1])]


def test_a_neuron_of_one_tag_and_one_word_is_the_clearest() -> None:
    found = interpretable_neurons(told([20, 20, 20], [[20, 20, 10], [0, 0, 10]]), 0, word)
    assert found[0].neuron == 0
    assert (found[0].tag, found[0].words) == ("numbers", ("forty",))
    assert found[0].score == pytest.approx(1.0)  # on all texts of the tag, no other, one word
    # As rare and as much at home, but of twelve words: four of them are a third, F1 is 1.
    alone = interpretable_neurons(told([5, 20, 5], [[5, 20, 5], [0, 0, 0]]), 0, word)
    assert [(each.neuron, each.words) for each in alone] == [(1, ())]
    assert alone[0].score == pytest.approx(4 / 12)


def test_each_tag_is_told_once_and_what_fires_nearly_everywhere_or_never_tells_nothing() -> None:
    found = interpretable_neurons(told([20, 20, 20], [[20, 0, 19], [0, 20, 1]]), 0, word)
    assert [(each.neuron, each.tag) for each in found] == [(0, "numbers"), (1, "sea")]
    assert interpretable_neurons(told([36, 90, 14], [[20, 20, 14], [16, 20, 0]]), 0, word) == ()
