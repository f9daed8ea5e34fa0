"""The order of the study's runs, from its log alone."""

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from ffnviz.analysis.trainings import (
    FAMILIES,
    FINAL,
    HIGHEST,
    LOWEST,
    RATE,
    RATE_SEED,
    RATES,
    Design,
    Row,
    next_run,
    search,
)
from tests.analysis.trainings.rows import ROW

TWO = Design((("relu", "no-ffn"), ("swiglu",)), 2, 16_000)


def log_of(design: Design, best: float = 2e-3, n: int | None = None) -> list[Row]:
    """The log after n runs, or all, of networks that are best at one rate."""
    rows: list[Row] = []
    while n is None or len(rows) < n:
        run = next_run(rows, design)
        if run is None:
            break
        loss = 3 + abs(math.log(run.learning_rate / best))
        rows.append(replace(ROW, variant=run.variant, phase=run.phase, seed=run.seed,
                            learning_rate=run.learning_rate, loss=loss))  # fmt: skip
    return rows


def test_rates_come_first_then_seed_by_seed_all_variants() -> None:
    rows = log_of(TWO)
    assert len(rows) == TWO.fewest == 3 * (5 + 2)
    kinds = [(row.variant, row.phase, row.seed) for row in rows]
    assert kinds[:10] == [("relu", RATE, RATE_SEED)] * 5 + [("no-ffn", RATE, RATE_SEED)] * 5
    assert kinds[10:14] == [(name, FINAL, seed) for seed in (0, 1) for name in ("relu", "no-ffn")]
    assert kinds[14:] == [("swiglu", RATE, RATE_SEED)] * 5 + [
        ("swiglu", FINAL, seed) for seed in (0, 1)
    ]
    assert {row.learning_rate for row in rows if row.phase == FINAL} == {2e-3}
    assert len({row.run for row in rows}) == len(rows)


@pytest.mark.parametrize("best", [1e-9, 1e-4, 3e-2, 1e9])
def test_a_search_goes_on_while_its_best_is_at_an_edge(best: float) -> None:
    found = search(log_of(TWO), "relu")
    assert sorted(found.losses) == list(RATES)
    rows = log_of(Design((("relu",),), 1, 16_000), best)
    found = search(rows, "relu")
    tried = sorted(found.losses)
    inside = tried[0] < found.best < tried[-1]
    assert inside or found.best in (LOWEST, HIGHEST)
    assert all(high == 2 * low for low, high in pairwise(tried))
    nearest = min(tried, key=lambda rate: abs(math.log(rate / best)))
    assert found.best == nearest


def test_a_run_that_diverged_is_no_best_and_is_not_repeated() -> None:
    rows = [replace(ROW, phase=RATE, learning_rate=rate, loss=math.nan if rate > 2e-3 else 3.0)
            for rate in RATES]  # fmt: skip
    assert search(rows, "relu").best <= 2e-3
    run = next_run(rows, Design((("relu",),), 1, 16_000))
    assert run is not None
    assert run.learning_rate not in RATES or run.phase == FINAL


def test_other_lengths_do_not_count() -> None:
    rows = [replace(row, steps=10) for row in log_of(TWO)]
    assert next_run(rows, TWO) == next_run([], TWO)


def test_each_variant_is_in_one_family() -> None:
    counts = Counter(name for family in FAMILIES for name in family)
    assert set(counts.values()) == {1}
