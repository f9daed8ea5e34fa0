"""Bins that never change, and quantiles from them, against NumPy's of the values."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from ffnviz.analysis.neurons.histogram import BINS, LEAST, MOST, SIDE, add_to, edges, quantile
from ffnviz.analysis.neurons.neuron_index import build_index
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import ours

Values = NDArray[np.float32]


def counted(hidden: torch.Tensor, signed: bool = True) -> torch.Tensor:
    counts = torch.zeros(hidden.shape[1], BINS, dtype=torch.int64)
    scratch = torch.empty(max(hidden.numel(), 2 * len(hidden)), dtype=torch.int32)
    add_to(counts, hidden, scratch, signed)
    return counts


def counts(values: Values, signed: bool = True) -> NDArray[np.int64]:
    """One neuron's."""
    return np.asarray(counted(torch.from_numpy(values)[:, None], signed)[0].numpy())


@pytest.mark.parametrize("lowest", [0.0, -1.0], ids=["unsigned", "signed"])
@pytest.mark.parametrize("d_ff", [1, 1_300])
def test_each_neuron_has_its_own_counts_however_many_there_are(d_ff: int, lowest: float) -> None:
    rng = np.random.default_rng(d_ff)
    sizes = 10.0 ** rng.integers(-6, 5, (250, d_ff))
    values = (rng.uniform(lowest, 1, sizes.shape) * sizes).astype(np.float32)
    found = torch.zeros(d_ff, BINS, dtype=torch.int64)
    for rows in (values[:1], values[1:10], values[10:]):  # counted one after the other
        scratch = torch.empty(max(rows.size, 2 * len(rows)), dtype=torch.int32)
        add_to(found, torch.from_numpy(rows), scratch, signed=lowest < 0)
    places = np.searchsorted(edges()[SIDE:], np.abs(values), side="right")
    places = SIDE + np.where(values > 0, places, -places)
    expected = np.zeros((d_ff, BINS), dtype=int)
    np.add.at(expected, (np.arange(d_ff)[None], places), 1)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_the_edges_are_two_an_octave_on_either_side_of_zero() -> None:
    ends = edges()
    assert len(ends) == BINS - 1
    assert (np.diff(ends) > 0).all()
    assert ends[-1] == 2.0**MOST
    assert ends[len(ends) // 2] == 2.0**LEAST
    mostly_zero = counts(np.array([0, 0, 3], np.float32))
    assert quantile(mostly_zero, 0.5) == 0.0
    assert quantile(mostly_zero, 1.0) == 4.0  # the upper end of its bin
    with pytest.raises(ValueError, match="no values"):
        quantile(np.zeros(BINS, dtype=int), 0.5)


SHARES = (0.0, 0.05, 0.5, 0.9, 0.99, 1.0)


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


@settings(max_examples=150, deadline=None)
@given(
    some.lists(some.tuples(SIZES, some.booleans()), min_size=1, max_size=80),
    some.sampled_from(SHARES),
)
@example([(-0.0, False), (0.0, False), (3.0, False)], 0.5)
def test_a_quantile_is_in_the_exact_ones_bin(drawn: list[tuple[float, bool]], share: float) -> None:
    values = np.array([-size if below else size for size, below in drawn], dtype=np.float32)
    found = counts(values)
    assert found.sum() == len(values)
    assert found[:SIDE].sum() == (values <= -(2.0**LEAST)).sum()
    low, high = bin_of(exact(values, share))
    assert low <= quantile(found, share) <= high
    sizes = np.abs(values)  # without negative values both ways of counting give the same
    np.testing.assert_array_equal(counts(sizes), counts(sizes, signed=False))


@pytest.mark.parametrize("phi", ["relu", "gelu"])
def test_an_index_has_the_quantiles_of_the_networks_values(tokenizer: Tokenizer, phi: str) -> None:
    """ReLU's are never below zero, GELU's are: each takes its own way."""
    model = ours(tokenizer, activation=phi)
    sentences = [f"The {w} had {n} dogs." for n in range(3) for w in ("cat", "sea")]
    index = build_index(model, [Probe(text, ()) for text in sentences], (), "dogs")
    ids = [model.trace(text) for text in sentences]
    for number, block in index.by_number.items():
        hidden = np.concatenate([trace.blocks[number].ffn.hidden.numpy() for trace in ids])
        assert (hidden.min() < 0) == (phi == "gelu")
        assert block.histogram.sum(axis=1).tolist() == [len(hidden)] * hidden.shape[1]
        for neuron, share in product(range(hidden.shape[1]), (0.5, 0.9, 0.99)):
            value = exact(hidden[:, neuron], share)
            low, high = bin_of(value)
            # In a batch a value may have another last bit, and so fall beside an edge.
            near = 1e-4 * abs(value) + 1e-6
            assert low - near <= block.quantile(neuron, share) <= high + near
