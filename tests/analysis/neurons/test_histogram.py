"""Bins that never change, and quantiles from them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from ffnviz.analysis.neurons.histogram import (
    BINS,
    LEAST,
    MOST,
    SIDE,
    add_to,
    edges,
    quantile,
)


def counted(hidden: torch.Tensor) -> torch.Tensor:
    counts = torch.zeros(hidden.shape[1], BINS, dtype=torch.int64)
    add_to(counts, hidden, torch.empty(max(hidden.numel(), 2 * len(hidden)), dtype=torch.int32))
    return counts


@given(some.lists(some.floats(width=32, allow_nan=False), min_size=1, max_size=50))
def test_each_value_falls_between_the_edges_of_its_bin(values: list[float]) -> None:
    counts = counted(torch.tensor(values)[:, None])[0].numpy()
    ends = edges()
    side = ends[len(ends) // 2 :]
    expected = np.zeros(BINS, dtype=int)
    for value in np.array(values, dtype=np.float32).tolist():
        place = int(np.searchsorted(side, abs(value), side="right"))
        expected[SIDE + (place if value > 0 else -place)] += 1
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("lowest", [0.0, -1.0], ids=["unsigned", "signed"])
@pytest.mark.parametrize("d_ff", [1, 511, 1_300])
def test_each_neuron_has_its_own_counts_however_many_there_are(d_ff: int, lowest: float) -> None:
    rng = np.random.default_rng(d_ff)
    values = (rng.uniform(lowest, 1, (9, d_ff)) * 10.0 ** rng.integers(-6, 5, (9, d_ff))).astype(
        np.float32
    )
    found = torch.zeros(d_ff, BINS, dtype=torch.int64)
    for rows in (values[:5], values[5:]):  # counted one after the other
        scratch = torch.empty(max(rows.size, 2 * len(rows)), dtype=torch.int32)
        add_to(found, torch.from_numpy(rows), scratch, signed=lowest < 0)
    side = edges()[SIDE:]
    places = np.searchsorted(side, np.abs(values), side="right")
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


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.99])
def test_a_quantile_is_that_of_the_values_to_within_its_bin(share: float) -> None:
    values = np.random.default_rng(0).normal(size=20_000).astype(np.float32) * 3
    counts = counted(torch.from_numpy(values)[:, None])[0].numpy()
    exact = float(np.quantile(values, share))
    assert quantile(counts, share) == pytest.approx(exact, rel=0.12, abs=0.02)


def test_a_neuron_that_is_mostly_zero_has_the_median_zero() -> None:
    counts = counted(torch.tensor([[0.0], [0.0], [3.0]]))[0].numpy()
    assert quantile(counts, 0.5) == 0.0
    assert quantile(counts, 1.0) == 4.0  # the upper end of its bin
    with pytest.raises(ValueError, match="no values"):
        quantile(np.zeros(BINS, dtype=int), 0.5)
