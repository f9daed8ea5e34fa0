"""Pairs by seed: intervals and tests against tables, integration, recounting and simulation."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.trainings.pairs import Pairs, pairs, sign_test, t_below, t_quantile
from ffnviz.analysis.trainings.table import Row

ROW = Row("relu", 0, 3_000, 100, 3.5, 0.5, 0.3, 0.1, 0.0, 0.0)


def made(differences: list[float]) -> Pairs:
    losses = np.array([[3.5 + each for each in differences], [3.5] * len(differences)])
    return Pairs(tuple(range(len(differences))), losses, (100, 100), 3_000)


@pytest.mark.parametrize(
    ("share", "freedom", "expected"),
    [(0.975, 1, 12.706), (0.975, 4, 2.776), (0.975, 9, 2.262), (0.995, 9, 3.250),
     (0.9995, 9, 4.781), (0.9995, 2, 31.599), (0.95, 30, 1.697)],
)  # fmt: skip
def test_students_quantiles_are_those_of_the_tables(
    share: float, freedom: int, expected: float
) -> None:
    assert t_quantile(share, freedom) == pytest.approx(expected, abs=5e-4)


@given(st.floats(0, 30), st.integers(1, 60))
def test_students_distribution_is_the_integral_of_its_density(t: float, freedom: int) -> None:
    x = np.linspace(0, t, 20_001)
    size = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    density = size / math.sqrt(freedom * math.pi) * (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    assert t_below(t, freedom) == pytest.approx(0.5 + np.trapezoid(density, x), abs=1e-5)


@pytest.mark.parametrize("n", range(1, 9))
def test_the_sign_test_counts_all_ways_coins_may_fall(n: int) -> None:
    coins = [sum(each) for each in itertools.product((0, 1), repeat=n)]
    for above in range(n + 1):
        as_one_sided = [abs(each - n / 2) >= abs(above - n / 2) for each in coins]
        assert sign_test(above, n) == pytest.approx(min(1.0, np.mean(as_one_sided)))


def test_the_interval_holds_the_true_effect_but_once_in_a_thousand_times() -> None:
    rng = np.random.default_rng(7)
    missed = 0
    for row in rng.normal(0.05, 0.03, (20_000, 6)):
        low, high = made(row.tolist()).interval(1e-3)
        missed += not low <= 0.05 <= high
    assert 5 <= missed <= 40  # 20 are expected


def test_one_pair_decides_nothing_and_none_is_none() -> None:
    assert made([5.0]).interval(1e-3) == (-math.inf, math.inf)
    assert made([5.0]).sign_p == 1.0
    assert pairs([ROW], "relu", "gelu") is None
    assert pairs([ROW, replace(ROW, variant="gelu", seed=1)], "relu", "gelu") is None


def test_what_has_no_other_of_its_seed_is_left_out() -> None:
    gelu = replace(ROW, variant="gelu", loss=3.75, parameters=90)
    rows = [ROW, replace(ROW, seed=1, loss=3.25), replace(gelu, seed=1), replace(gelu, seed=2),
            replace(gelu, steps=10), replace(gelu, seed=0, loss=3.0)]  # fmt: skip
    found = pairs(rows, "relu", "gelu")
    assert found is not None
    assert found.seeds == (0, 1)
    assert found.differences.tolist() == [0.5, -0.5]
    assert (found.effect, found.higher, found.sign_p) == (0.0, 1, 1.0)
    assert (found.parameters, found.steps) == ((100, 90), 3_000)
