"""Pairs by seed: intervals and tests against tables, integration, published data and simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.trainings import Pairs, holm, pairs, t_below, t_quantile
from tests.analysis.trainings.rows import ROW


def made(differences: list[float]) -> Pairs:
    losses = np.array([[3.5 + each for each in differences], [3.5] * len(differences)])
    return Pairs(tuple(range(len(differences))), losses, (2e-3, 4e-3), (100, 100), 16_000)


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


def test_p_is_that_of_students_own_data() -> None:
    """Hours of sleep gained by two drugs (Student 1908): t = 4.0621 on 9, p = 0.002833."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    found = made([b - a for a, b in zip(first, second, strict=True)])
    assert found.effect / found.error == pytest.approx(4.0621, abs=5e-5)
    assert found.p == pytest.approx(0.002833, abs=5e-7)
    assert made([-each for each in found.differences]).p == pytest.approx(found.p)


@pytest.mark.parametrize(("t", "p"), [(2.365, 0.05), (3.499, 0.01), (5.408, 0.001)])
def test_p_of_eight_pairs_is_that_of_the_table(t: float, p: float) -> None:
    spread = np.array([1.0, -1.0] * 4) / math.sqrt(8 / 7)  # its standard deviation is 1
    assert made((t / math.sqrt(8) + spread).tolist()).p == pytest.approx(p, rel=2e-3)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), st.floats(0.001, 0.2))
def test_p_is_below_alpha_just_where_the_interval_leaves_out_zero(
    differences: list[float], alpha: float
) -> None:
    found = made(differences)
    low, high = found.interval(alpha)
    if min(abs(low), abs(high)) > 1e-9:
        assert (found.p < alpha) == (low > 0 or high < 0)


def test_holms_correction_is_that_of_worked_examples() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.2, 0.9, 1.0]) == pytest.approx([0.6, 1.0, 1.0])
    assert holm([]) == []


def test_a_family_without_effects_is_fooled_once_in_a_hundred_times() -> None:
    """Seven variants against one usual network, whose loss they share in each pair."""
    rng, fooled, rounds = np.random.default_rng(5), 0, 3_000
    for losses in rng.normal(3, 0.02, (rounds, 8, 8)):
        found = [Pairs(tuple(range(8)), np.array([each, losses[0]]), (1, 1), (1, 1), 1)
                 for each in losses[1:]]  # fmt: skip
        fooled += min(holm([each.p for each in found])) <= 0.01
    assert fooled <= 0.01 * rounds + 3 * math.sqrt(0.01 * rounds)


def test_the_interval_holds_the_true_effect_but_once_in_a_thousand_times() -> None:
    rng = np.random.default_rng(7)
    missed = 0
    for row in rng.normal(0.05, 0.03, (20_000, 6)):
        low, high = made(row.tolist()).interval(1e-3)
        missed += not low <= 0.05 <= high
    assert 5 <= missed <= 40  # 20 are expected


def test_one_pair_decides_nothing_and_none_is_none() -> None:
    assert made([5.0]).interval(1e-3) == (-math.inf, math.inf)
    assert made([5.0]).p == 1.0
    assert made([0.0, 0.0]).p == 1.0
    assert made([0.5, 0.5]).p == 0.0
    assert pairs([ROW], "relu", "gelu") is None
    assert pairs([ROW, replace(ROW, variant="gelu", seed=1)], "relu", "gelu") is None


def test_only_final_trainings_that_have_another_of_their_seed_count() -> None:
    gelu = replace(ROW, variant="gelu", loss=3.75, parameters=90, learning_rate=2e-3)
    rows = [
        ROW, replace(ROW, seed=1, loss=3.25), replace(ROW, seed=3), replace(gelu, seed=1),
        replace(gelu, seed=2), replace(gelu, seed=0, loss=3.0),
        replace(gelu, seed=0, steps=10), replace(gelu, seed=0, phase="rate", loss=1.0),
        replace(gelu, seed=3, loss=math.nan),
    ]  # fmt: skip
    found = pairs(rows, "relu", "gelu")
    assert found is not None
    assert found.seeds == (0, 1)
    assert found.differences.tolist() == [0.5, -0.5]
    assert (found.effect, found.higher, found.p) == (0.0, 1, 1.0)
    assert (found.parameters, found.rates) == ((100, 90), (4e-3, 2e-3))
