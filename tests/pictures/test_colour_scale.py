"""How far a colour scale reaches: to the largest value, unless it towers over all others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from ffnviz.pictures.activation_map import scale_end

DRAWN = np.random.default_rng(0).normal(size=(9, 400)).astype(np.float32)


def test_as_a_rule_it_reaches_to_the_largest_value() -> None:
    assert scale_end([DRAWN]) == np.abs(DRAWN).max()
    assert scale_end([DRAWN, -9 * DRAWN]) == pytest.approx(9 * np.abs(DRAWN).max())
    assert scale_end([DRAWN[0], DRAWN[1]]) == np.abs(DRAWN[:2]).max()


def test_a_first_token_with_huge_values_does_not_whiten_the_others() -> None:
    huge = DRAWN.copy()
    huge[0, :5] = (900, -400, 300, 200, 100)
    assert scale_end([huge]) == pytest.approx(np.quantile(np.abs(DRAWN[1:]), 0.995))
    one = DRAWN[1].copy()
    one[7] = 80
    assert scale_end([one]) == pytest.approx(np.quantile(np.abs(one), 0.995)), (
        "a vector of one token"
    )


def test_exact_zeros_are_not_counted_and_nothing_is_no_fault() -> None:
    sparse = np.zeros((4, 1_000), dtype=np.float32)
    sparse[:, :20] = 3
    sparse[2, 5] = 5
    assert scale_end([sparse]) == 5, "few are awake, none towers over the others"
    assert scale_end([np.zeros((3, 4))]) == 0
    assert scale_end([np.zeros((1, 4)), np.ones((1, 1))]) == 1


VALUES = st.sampled_from([0.0, 0.5, 1.0, 2.0, -3.0, 4.0, 4.5, 20.0, 90.0])


@given(arrays(np.float32, array_shapes(min_dims=1, max_dims=2, max_side=60), elements=VALUES))
def test_it_is_the_quantile_of_the_others_that_decides(values: NDArray[np.float32]) -> None:
    sizes = np.abs(values)
    others = sizes
    if values.ndim > 1 and len(values) > 1:
        others = np.delete(sizes, sizes.max(axis=1).argmax(), axis=0)
    usual = np.quantile(others[others > 0], 0.995) if others.any() else sizes.max()
    assert scale_end([values]) == (usual if sizes.max() > 4 * usual else sizes.max())
