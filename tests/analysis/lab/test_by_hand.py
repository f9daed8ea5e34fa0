"""Units by hand: the line they are asked for, its errors in closed form, and the bound."""

import math

import numpy as np
import pytest
import torch

from ffnviz.analysis.lab.fitting import FUNCTIONS
from ffnviz.parts.lab.fit import SMOOTH, bound, by_adam, hand_errors, samples, units_through


def test_units_go_through_their_corners_and_straight_between() -> None:
    corners = [(-2.0, 0.5), (-1.0, -1.0), (0.25, 1.0), (2.0, 0.0)]
    units = units_through(corners)
    assert len(units.out) == 3
    x = np.linspace(-2, 2, 101)
    expected = np.interp(x, [a for a, _ in corners], [b for _, b in corners])
    np.testing.assert_allclose(units.at(x), expected, atol=1e-12)
    np.testing.assert_allclose(units.at(np.array([-3.0])), [0.5])
    np.testing.assert_allclose(units.at(np.array([3.75])), [-1.0])


def test_errors_are_those_in_closed_form() -> None:
    flat = units_through([(-2.0, 0.0), (2.0, 0.0)])
    found = hand_errors(torch.abs, flat)
    assert found.at == pytest.approx(math.sqrt(np.mean(samples() ** 2)))
    assert found.between == pytest.approx(math.sqrt(4 / 3), rel=0.01)
    assert found.outside == pytest.approx(math.sqrt(19 / 3), rel=0.01)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("n", [2, 5, 16])
def test_a_line_through_the_function_is_within_the_bound(name: str, n: int) -> None:
    f = FUNCTIONS[name]
    x = np.linspace(-2, 2, n + 1)
    line = units_through(list(zip(x, f(torch.from_numpy(x)).numpy(), strict=True)))
    fine = np.linspace(-2, 2, 4001)
    off = np.abs(line.at(fine) - f(torch.from_numpy(fine)).numpy()).max()
    assert off <= bound(f, n) + 1e-7
    if name == "wave":
        assert bound(f, n) == pytest.approx(9 * (4 / n) ** 2 / 8, rel=1e-4)


def test_adam_meets_the_points_with_enough_units_and_knows_nothing_outside() -> None:
    few, many = (hand_errors(FUNCTIONS["wave"], by_adam(FUNCTIONS["wave"], n)) for n in (1, 12))
    assert many.at < 1e-3 < few.at
    assert many.between > 10 * many.at
    assert many.outside > many.between
