"""The study's log: the order of its runs, and pairs by seed against tables, data and simulation."""

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis import trainings
from tests.analysis.trainings.rows import ROW

TWO = trainings.Design((("relu", "no-ffn"), ("swiglu",)), 2, 16_000)


def log_of(
    design: trainings.Design, best: float = 2e-3, n: int | None = None
) -> list[trainings.Row]:
    """The log after n runs, or all, of networks that are best at one rate."""
    rows: list[trainings.Row] = []
    while n is None or len(rows) < n:
        run = trainings.next_run(rows, design)
        if run is None:
            break
        loss = 3 + abs(math.log(run.learning_rate / best))
        rows.append(replace(ROW, variant=run.variant, phase=run.phase, seed=run.seed,
                            learning_rate=run.learning_rate, loss=loss))  # fmt: skip
    return rows


def test_rates_come_first_then_seed_by_seed_all_variants() -> None:
    rows = log_of(TWO)
    assert len(rows) == TWO.fewest == 3 * (5 + 2)
    expected: list[tuple[str, str, int]] = []
    for family in (("relu", "no-ffn"), ("swiglu",)):
        for name in family:
            expected += [(name, trainings.RATE, trainings.RATE_SEED)] * 5
        expected += [(name, trainings.FINAL, seed) for seed in (0, 1) for name in family]
    assert [(row.variant, row.phase, row.seed) for row in rows] == expected
    assert {row.learning_rate for row in rows if row.phase == trainings.FINAL} == {2e-3}
    assert len({row.run for row in rows}) == len(rows)


@pytest.mark.parametrize("best", [1e-9, 1e-4, 3e-2, 1e9])
def test_a_search_goes_on_while_its_best_is_at_an_edge(best: float) -> None:
    found = trainings.search(log_of(TWO), "relu")
    assert sorted(found.losses) == list(trainings.RATES)
    rows = log_of(trainings.Design((("relu",),), 1, 16_000), best)
    found = trainings.search(rows, "relu")
    tried = sorted(found.losses)
    inside = tried[0] < found.best < tried[-1]
    assert inside or found.best in (trainings.LOWEST, trainings.HIGHEST)
    assert all(high == 2 * low for low, high in pairwise(tried))
    nearest = min(tried, key=lambda rate: abs(math.log(rate / best)))
    assert found.best == nearest


def test_a_run_that_diverged_is_no_best_and_is_not_repeated() -> None:
    losses = {rate: math.nan if rate > 2e-3 else 3.0 for rate in trainings.RATES}
    tried = replace(ROW, phase=trainings.RATE)
    rows = [replace(tried, learning_rate=rate, loss=loss) for rate, loss in losses.items()]
    assert trainings.search(rows, "relu").best <= 2e-3
    run = trainings.next_run(rows, trainings.Design((("relu",),), 1, 16_000))
    assert run is not None
    assert run.learning_rate not in trainings.RATES or run.phase == trainings.FINAL
    others = [replace(row, steps=10) for row in log_of(TWO)]  # of another length
    assert trainings.next_run(others, TWO) == trainings.next_run([], TWO)
    counts = Counter(name for family in trainings.FAMILIES for name in family)
    assert set(counts.values()) == {1}, "each variant is in one family"


def made(differences: list[float]) -> trainings.Pairs:
    losses = np.array([[3.5 + each for each in differences], [3.5] * len(differences)])
    return trainings.Pairs(tuple(range(len(differences))), losses, (2e-3, 4e-3), (100, 100))


def test_quantiles_p_and_holms_correction_are_those_of_the_tables() -> None:
    for share, freedom, expected in (
        (0.975, 1, 12.706), (0.975, 4, 2.776), (0.975, 9, 2.262), (0.995, 9, 3.250),
        (0.9995, 9, 4.781), (0.9995, 2, 31.599), (0.95, 30, 1.697),
    ):  # fmt: skip
        assert trainings.t_quantile(share, freedom) == pytest.approx(expected, abs=5e-4)
    spread = np.array([1.0, -1.0] * 4) / math.sqrt(8 / 7)  # its standard deviation is 1
    for t, p in ((2.365, 0.05), (3.499, 0.01), (5.408, 0.001)):
        assert made((t / math.sqrt(8) + spread).tolist()).p == pytest.approx(p, rel=2e-3)
    assert trainings.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert trainings.holm([0.2, 0.9, 1.0]) == pytest.approx([0.6, 1.0, 1.0])
    assert trainings.holm([]) == []


@given(st.floats(0, 30), st.integers(1, 60))
def test_students_distribution_is_the_integral_of_its_density(t: float, freedom: int) -> None:
    x = np.linspace(0, t, 20_001)
    size = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    density = size / math.sqrt(freedom * math.pi) * (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    assert trainings.t_below(t, freedom) == pytest.approx(0.5 + np.trapezoid(density, x), abs=1e-5)


def test_p_is_that_of_students_own_data() -> None:
    """Hours of sleep gained by two drugs (Student 1908): t = 4.0621 on 9, p = 0.002833."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    found = made([b - a for a, b in zip(first, second, strict=True)])
    assert found.effect / found.error == pytest.approx(4.0621, abs=5e-5)
    assert found.p == pytest.approx(0.002833, abs=5e-7)
    assert made([-each for each in found.differences]).p == pytest.approx(found.p)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), st.floats(0.001, 0.2))
def test_p_is_below_alpha_if_zero_is_outside(differences: list[float], alpha: float) -> None:
    found = made(differences)
    low, high = found.interval(alpha)
    if min(abs(low), abs(high)) > 1e-9:
        assert (found.p < alpha) == (low > 0 or high < 0)


def test_one_pair_decides_nothing_and_none_is_none() -> None:
    assert made([5.0]).interval(1e-3) == (-math.inf, math.inf)
    assert made([5.0]).p == 1.0
    assert made([0.0, 0.0]).p == 1.0
    assert made([0.5, 0.5]).p == 0.0
    assert trainings.pairs([ROW], "relu", "gelu") is None
    assert trainings.pairs([ROW, replace(ROW, variant="gelu", seed=1)], "relu", "gelu") is None


def test_only_final_trainings_that_have_another_of_their_seed_count() -> None:
    gelu = replace(ROW, variant="gelu", loss=3.75, parameters=90, learning_rate=2e-3)
    rows = [
        ROW, replace(ROW, seed=1, loss=3.25), replace(ROW, seed=3), replace(gelu, seed=1),
        replace(gelu, seed=2), replace(gelu, seed=0, loss=3.0),
        replace(gelu, seed=0, steps=10), replace(gelu, seed=0, phase="rate", loss=1.0),
        replace(gelu, seed=3, loss=math.nan),
    ]  # fmt: skip
    found = trainings.pairs(rows, "relu", "gelu")
    assert found is not None
    assert found.seeds == (0, 1)
    assert found.differences.tolist() == [0.5, -0.5]
    assert (found.effect, found.higher, found.p) == (0.0, 1, 1.0)
    assert (found.parameters, found.rates) == ((100, 90), (4e-3, 2e-3))
