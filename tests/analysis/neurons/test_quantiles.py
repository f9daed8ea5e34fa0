"""Quantiles from bins against NumPy's of the values: for networks with and without negatives."""

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from ffnviz.analysis.neurons import histogram
from ffnviz.analysis.neurons.histogram import BINS, LEAST, MOST, SIDE, edges, quantile
from ffnviz.analysis.neurons.neuron_index import build_index
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.model import TWINS, load

SHARES = (0.0, 0.05, 0.5, 0.9, 0.99, 1.0)
Values = NDArray[np.float32]


def counts(values: Values, signed: bool) -> NDArray[np.int64]:
    """One neuron's."""
    hidden = torch.from_numpy(values)[:, None]
    found = torch.zeros(1, BINS, dtype=torch.int64)
    histogram.add_to(found, hidden, torch.empty(2 * len(hidden), dtype=torch.int32), signed)
    return np.asarray(found[0].numpy())


def bin_of(value: float) -> tuple[float, float]:
    """The two ends of the bin that a value falls into, by the definition."""
    size = abs(value)
    if size < 2.0**LEAST:
        return 0.0, 0.0  # a value near zero counts as zero
    if size >= 2.0**MOST:
        return (2.0**MOST,) * 2 if value > 0 else (-(2.0**MOST),) * 2
    octave = 2.0 ** np.floor(np.log2(size))
    low, high = (octave, 1.5 * octave) if size < 1.5 * octave else (1.5 * octave, 2 * octave)
    return (low, high) if value > 0 else (-high, -low)


def exact(values: Values, share: float) -> float:
    """The least value that this share of them does not exceed."""
    return float(np.quantile(values, share, method="inverted_cdf"))


SIZES = some.floats(0, 2.0 ** (MOST + 1), width=32) | some.sampled_from(
    [0.0, 2.0**LEAST, 1.5, 2.0, 2.0**MOST]
)


@settings(max_examples=200, deadline=None)
@given(some.lists(SIZES, min_size=1, max_size=80), some.sampled_from(SHARES))
@example([-0.0, 0.0, 3.0], 0.5)
def test_without_negative_values_both_ways_of_counting_give_the_same(
    sizes: list[float], share: float
) -> None:
    values = np.array(sizes, dtype=np.float32)
    np.testing.assert_array_equal(counts(values, True), counts(values, False))
    low, high = bin_of(exact(values, share))
    assert low <= quantile(counts(values, False), share) <= high


@settings(max_examples=200, deadline=None)
@given(
    some.lists(some.tuples(SIZES, some.booleans()), min_size=1, max_size=80),
    some.sampled_from(SHARES),
)
def test_with_negative_values_a_quantile_is_in_the_bin_of_the_exact_one(
    sizes: list[tuple[float, bool]], share: float
) -> None:
    values = np.array([-size if below else size for size, below in sizes], dtype=np.float32)
    found = counts(values, True)
    assert found.sum() == len(values)
    assert found[:SIDE].sum() == (values <= -(2.0**LEAST)).sum()
    low, high = bin_of(exact(values, share))
    assert low <= quantile(found, share) <= high


def test_many_rows_are_counted_as_they_are_one_by_one() -> None:
    values = np.random.default_rng(0).normal(size=(1_000, 3)).astype(np.float32) ** 3
    for hidden, signed in ((values, True), (np.abs(values), False)):
        given_ = torch.from_numpy(hidden)
        found = torch.zeros(3, BINS, dtype=torch.int64)
        for rows in (given_[:1], given_[1:200], given_[200:]):  # more than are counted at once
            histogram.add_to(found, rows, torch.empty(rows.shape, dtype=torch.int32), signed)
        for neuron in range(3):
            wanted, _ = np.histogram(hidden[:, neuron], bins=[-np.inf, *edges(), np.inf])
            # np.histogram's bins are closed below; those of negative values here, above.
            np.testing.assert_array_equal(found[neuron].numpy(), wanted)
    assert (np.abs(values)[..., None] != edges()).all()  # so that it makes no difference


@pytest.mark.parametrize("name", TWINS)
def test_an_index_has_the_quantiles_of_the_twins_own_values(name: str) -> None:
    """ReLU's are never below zero, GELU's are: each takes its own way."""
    model = load(name)
    sentences = [f"The {w} had {n} dogs and a boat." for n in range(6) for w in ("cat", "sea")]
    index = build_index(model, [Probe(text, ()) for text in sentences], (), "dogs")
    ids = [model.trace(text) for text in sentences]
    for number, block in index.by_number.items():
        hidden = np.concatenate([trace.blocks[number].ffn.hidden.numpy() for trace in ids])
        assert (hidden.min() < 0) == (name == "gelu")
        assert block.histogram.sum(axis=1).tolist() == [len(hidden)] * hidden.shape[1]
        for neuron in range(0, hidden.shape[1], 7):
            for share in (0.5, 0.9, 0.99):
                value = exact(hidden[:, neuron], share)
                low, high = bin_of(value)
                # In a batch a value may have another last bit, and so fall beside an edge.
                near = 1e-4 * abs(value) + 1e-6
                assert low - near <= block.quantile(neuron, share) <= high + near
