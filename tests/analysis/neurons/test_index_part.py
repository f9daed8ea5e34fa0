"""Parts of an index: added up in any order and from any split, they give the same, bit for bit."""

import pickle
from collections.abc import Iterable
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from ffnviz.analysis.neurons import counting, partners
from ffnviz.analysis.neurons.gathering import Gatherer
from ffnviz.analysis.neurons.partners import mixed, signs
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model

N_POSITIONS, D_FF, TAGS, CLASSES = 8, 24, 2, 3


def same(a: counting.IndexPart, b: counting.IndexPart) -> bool:
    """Every bit of every array, all texts in their order, all problems."""

    def as_bytes(part: counting.IndexPart) -> list[object]:
        arrays = [part.at_position, part.of_class, part.with_tag]
        arrays += [getattr(block, f.name) for block in part.blocks for f in fields(block)]
        return [(a.dtype.str, a.shape, a.tobytes()) for a in arrays]

    return (a.n_texts, list(a.texts.items()), dict(a.problems), as_bytes(a)) == (
        b.n_texts, list(b.texts.items()), dict(b.problems), as_bytes(b))  # fmt: skip


def nothing(n_blocks: int = 2, signed: bool = True) -> counting.IndexPart:
    return counting.empty(n_blocks, D_FF, N_POSITIONS, CLASSES, TAGS, signed)


def made_up(seed: int) -> tuple[counting.Batch, list[torch.Tensor]]:
    """A batch; values are coarse, so that many are equal."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(1, 30)), int(rng.integers(1, N_POSITIONS + 1))
    hidden = [torch.from_numpy((rng.normal(size=(*shape, D_FF)) * 4).round() / 4).float()
              for _ in range(2)]  # fmt: skip
    tagged = torch.from_numpy(rng.integers(0, 2, (shape[0], TAGS)))
    classes = torch.from_numpy(rng.integers(0, CLASSES, shape))
    return batch_of(np.arange(shape[0]) * 3 + seed * 1_000, tagged, classes), hidden


def batch_of(
    places: NDArray[np.int64], tagged: torch.Tensor, classes: torch.Tensor
) -> counting.Batch:
    """Texts at such places; which ids they have makes no difference."""
    texts = tuple(f"text {place}" for place in places)
    is_class = torch.nn.functional.one_hot(classes.flatten(), CLASSES).float()
    return counting.Batch(texts, places, classes.shape[1], tagged.float(), is_class)


def counted(
    batch: counting.Batch, hidden: Iterable[torch.Tensor], threshold: float, *to: counting.IndexPart
) -> counting.IndexPart:
    part = to[0] if to else nothing()
    alone = counting.Tally(part, torch.device("cpu"), threshold)
    add(alone, batch, hidden)
    return alone.end()


def add(to: counting.Tally, batch: counting.Batch, hidden: Iterable[torch.Tensor]) -> None:
    add_block = to.begin(batch)
    for block in hidden:
        add_block(block)


def part(seed: int) -> counting.IndexPart:
    return replace(counted(*made_up(seed), 0.0), problems={f"file {seed % 3}": 1})


seeds = some.lists(some.integers(0, 2**31), min_size=1, max_size=5, unique=True)


@settings(max_examples=15)
@given(seeds, some.randoms(), some.booleans())
def test_merging_in_any_order(drawn: list[int], random: "np.random.Generator", small: bool) -> None:
    parts = [part(seed) for seed in drawn]
    whole = counting.merged(parts)
    left = list(parts)
    random.shuffle(left)
    while len(left) > 1:  # a tree of any shape
        at = int(random.random() * (len(left) - 1))
        left[at : at + 2] = [counting.merge(left[at + 1], left[at])]
    assert same(left[0], whole)
    assert same(counting.merge(nothing(), whole), whole)
    # Adding in place is merging, also where a sketch or the texts are put aside after each batch.
    with pytest.MonkeyPatch.context() as patch:
        if small:
            patch.setattr(partners, "EXACT", 1)
            patch.setattr(partners, "WAITING", 3)
            patch.setattr(counting, "TEXTS", 1)
        together = counting.Tally(nothing(), torch.device("cpu"), 0.0)
        for seed in drawn:
            add(together, *made_up(seed))
        made = together.end()
    assert same(made, replace(whole, problems={}))


def test_the_sketch_is_of_one_token_in_four_chosen_by_its_place() -> None:
    batch, hidden = made_up(5)
    n_texts, n_tokens = len(batch.texts), batch.n_tokens
    of_texts = mixed(batch.places.astype(np.uint64))
    looked_at, drawn = signs(
        np.array([of_text + np.uint64(at) for of_text in of_texts for at in range(n_tokens)])
    )
    chosen = np.flatnonzero(looked_at)
    assert 0 < len(chosen) < n_texts * n_tokens
    for block, values in zip(counted(batch, hidden, 0.1).blocks, hidden, strict=True):
        fires = np.abs(values.reshape(-1, D_FF).numpy()) > 0.1
        for neuron in range(D_FF):
            on = [n for n, token in enumerate(chosen) if fires[token, neuron]]
            assert block.sampled[neuron] == len(on)
            np.testing.assert_array_equal(block.sketch[neuron], drawn[on].sum(axis=0, dtype=int))


def test_of_equal_values_the_earlier_text_is_kept() -> None:
    def counted_alone(rows: range) -> counting.IndexPart:
        tagged, classes = torch.zeros(len(rows), TAGS), torch.zeros(len(rows), 1).long()
        batch = batch_of(np.array(rows), tagged, classes)
        return counted(batch, [torch.ones(len(rows), 1, D_FF)], 0.0, nothing(1))

    n = 2 * counting.EXAMPLES
    whole = counted_alone(range(n))
    assert whole.blocks[0].places[:, 0].tolist() == list(range(counting.EXAMPLES))
    odd, even = counted_alone(range(1, n, 2)), counted_alone(range(0, n, 2))
    assert same(counting.merge(odd, even), whole)


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, "pre", "gelu")


WORDS = ["the", "cat", "sat", "two", "42", ",", "É", "gone"]


@settings(max_examples=8)
@given(some.lists(some.lists(some.sampled_from(WORDS), min_size=1, max_size=9), max_size=40),
       some.lists(some.integers(0, 40), max_size=4))  # fmt: skip
def test_any_split_counts_once(model: Model, drawn: list[list[str]], cuts: list[int]) -> None:
    """Whole numbers agree exactly; a value may differ in its last bit, as batches differ."""
    probes = [Probe(" ".join(words), ()) for words in drawn]
    gatherer = Gatherer(model, ())
    whole = gatherer.gather(probes, 0)
    edges = [0, *sorted(min(cut, len(probes)) for cut in cuts), len(probes)]
    parts = [gatherer.gather(probes[start:end], start) for start, end in pairwise(edges)]
    again = counting.merged(parts)
    assert (again.n_texts, again.n_tokens) == (whole.n_texts, whole.n_tokens)
    np.testing.assert_array_equal(again.of_class, whole.of_class)
    for one, two in zip(again.blocks, whole.blocks, strict=True):
        np.testing.assert_allclose(one.values, two.values, rtol=1e-5, atol=1e-6)
        assert np.abs(one.by_position - two.by_position).sum() <= 2
    assert pickle.loads(pickle.dumps(again)).n_texts == again.n_texts
