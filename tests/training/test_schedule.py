"""The learning rate, and the steps at which the held-out books are looked at."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.training.loop import learning_rate
from ffnviz.training.masking import Recipe

RECIPE = Recipe(steps=1_000, warmup_steps=100, learning_rate=0.5)


def test_the_warm_up_rises_in_equal_steps_to_the_highest_rate() -> None:
    rates = [learning_rate(RECIPE, step) for step in range(100)]
    assert rates[0] == pytest.approx(0.005)
    assert rates[49] == pytest.approx(0.25)
    assert rates[99] == pytest.approx(0.5)


def test_then_half_a_cosine_falls_to_zero_at_the_last_step() -> None:
    assert learning_rate(RECIPE, 100) == pytest.approx(0.5)
    assert learning_rate(RECIPE, 325) == pytest.approx(0.25 * (1 + 0.5**0.5))  # cos 45°
    assert learning_rate(RECIPE, 550) == pytest.approx(0.25)  # half way
    assert learning_rate(RECIPE, 999) < 1e-5
    assert learning_rate(RECIPE, 1_000) == pytest.approx(0, abs=1e-12)


def test_after_the_warm_up_the_rate_never_rises() -> None:
    rates = [learning_rate(RECIPE, step) for step in range(99, 1_001)]
    assert rates == sorted(rates, reverse=True)


def test_a_run_shorter_than_its_warm_up_has_positive_rates() -> None:
    short = replace(RECIPE, steps=1)
    assert learning_rate(short, 0) == pytest.approx(0.005)


def test_a_full_run_looks_at_the_held_out_books_at_least_twenty_times() -> None:
    recipe = Recipe()
    steps = recipe.point_steps()
    assert len(steps) == recipe.points >= 20
    assert {0, recipe.steps} <= steps


@given(st.integers(1, 100_000), st.integers(2, 60))
def test_the_first_and_the_last_step_are_always_among_them(steps: int, points: int) -> None:
    chosen = replace(RECIPE, steps=steps, points=points).point_steps()
    assert min(chosen) == 0
    assert max(chosen) == steps
    assert len(chosen) <= points


def test_they_are_denser_at_the_start() -> None:
    steps = sorted(Recipe().point_steps())
    gaps = [after - before for before, after in pairwise(steps)]
    assert gaps == sorted(gaps)
    assert gaps[0] < gaps[-1] / 20
