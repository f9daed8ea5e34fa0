"""The neuron index against counting sentence by sentence; the probe set; the shipped files."""

import copy
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffnviz.analysis.neurons.counting import EXAMPLES, BlockPart, empty
from ffnviz.analysis.neurons.gathering import LONGEST, batches
from ffnviz.analysis.neurons.index_file import (
    INDEXES,
    LOW,
    IndexFileError,
    in_words,
    read_index,
    write_index,
)
from ffnviz.analysis.neurons.neuron_index import NeuronIndex, build_index
from ffnviz.analysis.neurons.probes import Probe, ProbesError, read_probes, split
from ffnviz.models.encoder.model import TWINS, Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.fingerprint import is_of
from tests.analysis.networks import ours, small_model

WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "she",
    "had",
    "gone",
    "to",
    "the",
    "river",
    "with",
    "two",
    "dogs",
]
TAGS = ("even", "long", "odd")


def made_up(n: int) -> list[Probe]:
    rng = np.random.default_rng(7)
    probes = []
    for number in range(n):
        size = int(rng.integers(1, 12))
        tags = ["even" if number % 2 == 0 else "odd"] + (["long"] if size > 7 else [])
        probes.append(Probe(" ".join(rng.choice(WORDS, size)) + ".", tuple(tags)))
    return probes


@pytest.fixture(scope="module", params=["relu", "gelu", "tanh", "swiglu", "reglu"])
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, "pre", request.param)


def test_the_counts_and_examples_are_those_of_going_through_the_texts_one_by_one(
    model: Model,
) -> None:
    probes = made_up(150)
    index = build_index(model, iter(probes), TAGS, "made up")
    activation = model.encoder.config.activation
    assert index.threshold == (0.0 if activation in ("relu", "reglu") else 0.1)
    assert index.both_sides == (activation != "relu")
    hidden = [[b.ffn.hidden.numpy() for b in model.trace(p.text).blocks] for p in probes]
    assert index.n_texts == 150
    assert index.n_tokens == sum(len(h[0]) for h in hidden)
    assert index.with_tag.tolist() == [sum(tag in p.tags for p in probes) for tag in TAGS]
    for number, block in enumerate(index.blocks):
        fires = [(h[number] > index.threshold) | (h[number] < -index.threshold) for h in hidden]
        for position in range(len(index.at_position)):
            expected = sum(f[position].astype(int) for f in fires if len(f) > position)
            np.testing.assert_array_equal(block.by_position[position], expected)
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
            for neuron in (0, 9, 31):
                for rank in np.flatnonzero(np.isfinite(found[:, neuron])):
                    text = index.texts[examples[rank, neuron]]
                    values = sign * model.trace(text).blocks[number].ffn.hidden[:, neuron]
                    most = float(values.max())
                    assert most == pytest.approx(sign * found[rank, neuron], abs=1e-4)
                    assert float(values[tokens[rank, neuron]]) == pytest.approx(most, abs=1e-4)


def test_texts_longer_than_the_network_reads_are_cut_and_none_of_them_is_lost(model: Model) -> None:
    long = " ".join(WORDS * 30)
    whole = model.tokenizer.encode_many([long])[0]
    found = list(batches([Probe(long, ())], model.tokenizer, 20))
    assert max(batch.ids.shape[1] for batch in found) <= 20
    pieces = sorted((n, p.text) for b in found for n, p in zip(b.numbers, b.probes, strict=True))
    assert "".join(text for _, text in pieces).replace(" ", "") == long.replace(" ", "")
    assert abs(sum(batch.ids.numel() for batch in found) - len(whole)) <= len(pieces)
    assert {word for _, text in pieces for word in text.split()} <= set(long.split())


def test_a_word_without_an_end_is_cut_where_it_must_be(model: Model) -> None:
    long = "the cat " + "x" * 400
    pieces = [p.text for b in batches([Probe(long, ())], model.tokenizer, 20) for p in b.probes]
    assert sorted("".join(pieces).replace(" ", "")) == sorted(long.replace(" ", ""))


def test_a_batch_has_one_length_and_at_most_so_many_tokens(model: Model) -> None:
    seen: list[int] = []
    for batch in batches(made_up(300), model.tokenizer, 128, batch_tokens=100):
        assert batch.ids.numel() <= 100
        rows = model.tokenizer.encode_many([p.text for p in batch.probes])
        assert batch.ids.tolist() == rows
        seen += batch.numbers
    assert sorted(seen) == list(range(300))


def test_memory_does_not_grow_with_the_corpus(tokenizer: Tokenizer) -> None:
    """Of 15,000 texts, what waits for a batch or is an example is kept, and no more."""
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

    texts = (Probe(Counted(probe.text), probe.tags) for probe in made_up(15_000))
    model = small_model(tokenizer, "pre", "gelu")  # which keeps both sides
    assert build_index(model, texts, TAGS, "many", watch).n_texts == 15_000
    assert most < 9_000


def test_an_index_is_the_same_after_writing_and_reading(model: Model, tmp_path: Path) -> None:
    index = build_index(model, made_up(60), TAGS, "made up")
    write_index(index, tmp_path / "here.npz")
    again = read_index(tmp_path / "here.npz", d_ff=32, n_blocks=3)
    assert (again.source, again.tags, again.texts, again.n_texts, again.threshold) == (
        "made up", TAGS, index.texts, 60, index.threshold)  # fmt: skip
    assert again.network == model.fingerprint
    for one, two in zip(index.blocks, again.blocks, strict=True):
        np.testing.assert_array_equal(one.by_position, two.by_position)
        np.testing.assert_array_equal(one.examples, two.examples)
        np.testing.assert_allclose(one.values, two.values, rtol=1e-3)
        np.testing.assert_allclose(one.low_values, two.low_values, rtol=1e-3)
        np.testing.assert_array_equal(one.low_examples, two.low_examples)
        np.testing.assert_array_equal(one.low_tokens, two.low_tokens)


def of_version_2(path: Path) -> None:
    """What a file had before both sides were counted."""
    with np.load(path) as arrays:
        about = json.loads(arrays["about"].tobytes()) | {"version": 2}
        new = [f"{n}.{name}" for n in about["numbers"] for name in LOW]
        kept = {name: values for name, values in arrays.items() if name not in new}
    kept["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez_compressed(path, **kept)


def test_a_file_of_before_is_read_and_says_that_it_has_one_side(
    model: Model, tmp_path: Path
) -> None:
    path = tmp_path / "here.npz"
    write_index(build_index(model, made_up(60), TAGS, "made up"), path)
    new = read_index(path, d_ff=32, n_blocks=3)
    of_version_2(path)
    old = read_index(path, d_ff=32, n_blocks=3)
    assert not old.both_sides
    for one, two in zip(old.blocks, new.blocks, strict=True):
        np.testing.assert_array_equal(one.values, two.values)
        assert not one.least.any()
        np.testing.assert_array_equal(one.fired_texts, two.texts)
        assert set(one.sides) == {1}
        assert all(each.value > 0 for each in one.strongest(3))


def test_a_file_that_is_no_index_of_this_model_is_refused(model: Model, tmp_path: Path) -> None:
    index = build_index(model, made_up(20), TAGS, "made up")
    path = tmp_path / "here.npz"
    write_index(index, path)
    with pytest.raises(IndexFileError, match="3 blocks with 2048"):
        read_index(path, d_ff=2_048, n_blocks=3)
    for damaged in (b"", b"no zip", path.read_bytes()[:300]):
        path.write_bytes(damaged)
        with pytest.raises(IndexFileError, match="is not an index"):
            read_index(path, d_ff=32, n_blocks=3)
    with pytest.raises(IndexFileError, match="is not an index"):
        read_index(tmp_path / "missing.npz", d_ff=32, n_blocks=3)


def test_an_index_is_that_of_its_weights_alone(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "here.npz"
    write_index(build_index(model, made_up(20), TAGS, "made up"), path)
    assert is_of(path, model)
    others = model.encoder.state_dict()
    name = next(name for name in others if "attention" in name)
    encoder = copy.deepcopy(model.encoder)
    encoder.load_state_dict(others | {name: others[name] + 0.1})
    assert not is_of(path, replace(model, encoder=encoder)), "the FFNs are the same"


def test_an_index_of_some_blocks_is_theirs_of_one_of_all(model: Model, tmp_path: Path) -> None:
    index = build_index(model, made_up(20), TAGS, "made up")
    path = tmp_path / "here.npz"
    write_index(build_index(model, made_up(20), TAGS, "made up", blocks=(2, 0)), path)
    some = read_index(path, d_ff=32, n_blocks=3)
    assert some.numbers == (0, 2)
    assert sorted(some.by_number) == [0, 2]
    for number, block in some.by_number.items():
        np.testing.assert_array_equal(block.histogram, index.blocks[number].histogram)
    with pytest.raises(
        IndexFileError, match=r"blocks 1 and 3 \(from 1\), with 32 .* has 2 blocks with 32"
    ):
        read_index(path, d_ff=32, n_blocks=2)


def test_a_file_whose_blocks_are_none_is_refused(model: Model, tmp_path: Path) -> None:
    index, path = build_index(model, made_up(20), TAGS, "made up"), tmp_path / "here.npz"
    wrong: list[tuple[Any, ...]] = [(0, 2, 1), (0, 0, 1), (-1, 0, 1), (0, True, 2), (0, 1, 2.5)]
    for numbers in (*wrong, ("0", "1", "2")):
        write_index(replace(index, numbers=numbers), path)
        with pytest.raises(IndexFileError, match="is not an index of neurons"):
            read_index(path, d_ff=32, n_blocks=3)
    write_index(replace(index, numbers=(), blocks=()), path)
    with pytest.raises(IndexFileError, match="does not say which blocks"):
        read_index(path, d_ff=32, n_blocks=3)


def test_blocks_are_named_as_people_count_them() -> None:
    assert in_words((2,)) == "3"
    assert in_words((2, 6, 10)) == "3, 7 and 11"
    assert in_words((0, 1)) == "1 and 2"
    assert in_words((0, 2, 3, 4, 7, 8)) == "1, 3–5, 8 and 9"
    assert in_words(tuple(range(32))) == "1–32"


def test_a_file_that_points_to_what_is_not_there_is_refused(model: Model, tmp_path: Path) -> None:
    index, path = build_index(model, made_up(20), TAGS, "made up"), tmp_path / "here.npz"
    first, *rest = index.blocks
    wrong = (
        replace(first, examples=first.examples + 20),
        replace(first, partners=first.partners + 32),
        replace(first, tokens=first.tokens - 9),
        replace(first, mean=first.mean[:-1]),
        replace(first, histogram=first.histogram[:, :-1]),
        replace(first, low_values=np.zeros((5, 32), np.float32)),
        replace(first, low_by_tag=first.by_tag[:1]),
        *([replace(first, low_examples=first.low_examples + 20)] * index.both_sides),
    )
    for block in wrong:
        write_index(replace(index, blocks=(block, *rest)), path)
        with pytest.raises(IndexFileError, match=r"points to what is not there|has another shape"):
            read_index(path, d_ff=32, n_blocks=3)


def test_a_damaged_byte_anywhere_is_refused_or_does_no_harm(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "here.npz"
    write_index(build_index(model, made_up(20), TAGS, "made up"), path)
    good = path.read_bytes()
    refused = 0
    for place in range(0, len(good), len(good) // 200):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        try:
            read_index(path, d_ff=32, n_blocks=3)
        except IndexFileError:
            refused += 1
    assert refused > 150


def test_no_texts_and_unknown_tags_are_refused(model: Model) -> None:
    with pytest.raises(ValueError, match="no texts"):
        build_index(model, [], TAGS, "none")
    with pytest.raises(ValueError, match="“new” is not among"):
        build_index(model, [Probe("the cat", ("new",))], TAGS, "none")


@pytest.fixture(scope="module", params=TWINS)
def shipped_and_rebuilt(request: pytest.FixtureRequest) -> tuple[NeuronIndex, NeuronIndex]:
    model = load(request.param)
    probes, _ = split(read_probes())
    tags = tuple(sorted({tag for probe in probes for tag in probe.tags}))
    source = f"{len(probes):,} sentences of our probe set"
    config = model.encoder.config
    shipped = read_index(INDEXES / f"{request.param}.npz", config.d_ff, config.n_blocks)
    return shipped, build_index(model, probes, tags, source)


def test_the_shipped_index_is_what_the_command_builds(
    shipped_and_rebuilt: tuple[NeuronIndex, NeuronIndex],
) -> None:
    shipped, rebuilt = shipped_and_rebuilt
    # A value that is zero but for rounding may fire on one machine and not on another.
    rounding = 2e-5
    for field in ("source", "threshold", "n_texts", "tags", "n_tokens"):
        assert getattr(shipped, field) == getattr(rebuilt, field)
    np.testing.assert_array_equal(shipped.at_position, rebuilt.at_position)
    np.testing.assert_array_equal(shipped.with_tag, rebuilt.with_tag)
    for one, two in zip(shipped.blocks, rebuilt.blocks, strict=True):
        for counts in ("by_position", "by_tag", "texts", "low_texts", "low_by_tag", "both_texts"):
            mine, theirs = getattr(one, counts), getattr(two, counts)
            assert np.abs(mine - theirs).sum() <= rounding * theirs.sum() + 1
        np.testing.assert_allclose(one.values, two.values, rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(one.low_values, two.low_values, rtol=2e-3, atol=2e-3)
        same = np.array([[shipped.texts[e] for e in row] for row in one.examples]) == np.array(
            [[rebuilt.texts[e] for e in row] for row in two.examples]
        )
        assert same.mean() > 0.995  # texts of equal value may change places


@pytest.mark.parametrize("twin", TWINS)
def test_the_shipped_index_says_that_it_is_of_these_weights(twin: str) -> None:
    model = load(twin)
    shipped = read_index(INDEXES / f"{twin}.npz", model.sizes.d_ff, model.sizes.n_blocks)
    assert shipped.network == model.fingerprint
    provenance = model.card.provenance
    assert provenance is not None
    assert provenance.index == INDEXES / f"{twin}.npz"


def test_the_shipped_indexes_are_small() -> None:
    assert sum(path.stat().st_size for path in INDEXES.glob("*.npz")) < 3e6


def test_there_are_probes_enough_of_many_kinds_and_none_twice() -> None:
    probes = read_probes()
    texts = [probe.text for probe in probes]
    assert len(set(texts)) == len(texts) >= 1_000
    assert all(probe.tags and len(set(probe.tags)) == len(probe.tags) for probe in probes)
    counts = {tag: sum(tag in p.tags for p in probes) for p in probes for tag in p.tags}
    assert len(counts) > 60
    assert min(counts.values()) >= 10
    for kind in ("animals", "places", "food", "feelings", "numbers", "time", "past", "future",
                 "first person", "question", "negation", "quotation", "comma"):  # fmt: skip
        assert kind in counts


@pytest.mark.parametrize(
    ("tag", "sign"), [("question", "?"), ("exclamation", "!"), ("quotation", '"'), ("comma", ",")]
)
def test_a_tag_that_can_be_read_off_the_text_is_right(tag: str, sign: str) -> None:
    for probe in read_probes():
        assert (tag in probe.tags) == (sign in probe.text), probe


def test_a_quarter_of_every_kind_is_held_back() -> None:
    probes = read_probes()
    shown, held_back = split(probes)
    assert sorted(p.text for p in shown + held_back) == sorted(p.text for p in probes)
    assert len(held_back) == len(probes) // 4
    for tag in ("animals", "past", "question", "food", "negation"):
        n = sum(tag in p.tags for p in probes)
        assert sum(tag in p.tags for p in held_back) == pytest.approx(n / 4, rel=0.3, abs=3)


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


def test_an_edited_index_would_be_noticed(
    shipped_and_rebuilt: tuple[NeuronIndex, NeuronIndex],
) -> None:
    shipped, rebuilt = shipped_and_rebuilt
    block = shipped.blocks[0]
    wrong = replace(shipped, blocks=(replace(block, texts=block.texts + 1), *shipped.blocks[1:]))
    with pytest.raises(AssertionError):
        test_the_shipped_index_is_what_the_command_builds((wrong, rebuilt))


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
