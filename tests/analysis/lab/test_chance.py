"""What chance may do, against counting and against the standard library's normal distribution."""

from itertools import permutations
from statistics import NormalDist

import numpy as np
import pytest

from ffnviz.analysis.lab.tolerances import FALSE_ALARM, agreed, strays, trend_by_chance


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_a_trend_by_chance_is_what_counting_all_orders_gives(n: int) -> None:
    trends = [
        sum(int(np.sign(a - b)) for k, a in enumerate(order) for b in order[k + 1 :])
        for order in permutations(range(n))
    ]
    limit = trend_by_chance(n)
    assert np.mean([trend > limit for trend in trends]) <= FALSE_ALARM
    assert np.mean([trend > limit - 2 for trend in trends]) > FALSE_ALARM


@pytest.mark.parametrize(("comparisons", "sides"), [(1, 1), (1, 2), (512, 2)])
def test_strays_are_the_normal_distributions(comparisons: int, sides: int) -> None:
    expected = NormalDist().inv_cdf(1 - FALSE_ALARM / sides / comparisons)
    assert strays(comparisons, sides) == pytest.approx(expected)


def test_differences_decide_only_if_they_are_many_and_agree() -> None:
    ones = np.ones(10)
    assert agreed(ones) == agreed(-ones) == ""
    assert agreed(np.append(ones, -1.0)) == "it is so in 10 of 11 draws"
    assert agreed(ones[:9]) == "it takes 10 draws that agree, and there are 9"
    assert agreed(ones[:1], "pairs").endswith("pairs that agree, and there is 1")
