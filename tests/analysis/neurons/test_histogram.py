"""Bins that never change, and quantiles from them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from ffnviz.analysis.neurons.histogram import BINS, LEAST, MOST, SIDE, counted, edges, quantile


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
