"""Points, the best line for them, and the small network that lifts them."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from ffnviz.parts.dimensions.separate import (
    GRID,
    MOST,
    PHIS,
    PRESETS,
    SIDE,
    Points,
    best_line,
    by_width,
    separate,
)

CORNERS = Points(
    np.array([[0, 0], [63, 63], [0, 63], [63, 0]]), np.array([True, True, False, False])
)
SMALL = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=1, max_size=7
)


def rule(points: Points, normal: np.ndarray, offset: float) -> int:
    side = points.places @ normal > offset
    return int(max((side == points.first).sum(), (side != points.first).sum()))


@given(SMALL)
def test_no_line_of_very_many_does_better_than_the_best_one(
    found: list[tuple[int, int, bool]],
) -> None:
    points = Points(np.array([p[:2] for p in found]), np.array([p[2] for p in found]))
    best = 0
    for angle in np.linspace(0, np.pi, 361)[:-1] + 1e-3:
        normal = np.array([np.cos(angle), np.sin(angle)])
        along = np.unique(points.places @ normal)
        between = [along[0] - 1, *((along[1:] + along[:-1]) / 2)]
        best = max(best, *(rule(points, normal, offset) for offset in between))
    assert best_line(points) == best


@pytest.mark.parametrize(("preset", "divided"), [("rings", False), ("halves", True)])
def test_a_line_divides_halves_and_no_rings(preset: str, divided: bool) -> None:
    points = PRESETS[preset]()
    assert (best_line(points) == len(points.first)) == divided
    assert len(points.first) <= MOST
    assert points.places.min() >= 0
    assert points.places.max() < SIDE


def test_of_four_corners_a_line_gets_three() -> None:
    assert best_line(CORNERS) == 3


def test_a_wide_layer_divides_what_no_line_divides_but_never_without_phi() -> None:
    for preset, phi in product(("rings", "spirals", "xor"), ("relu", "gelu", "tanh", "sigmoid")):
        points = PRESETS[preset]()
        assert separate(points, phi, 64, 0, trained=False).right == len(points.first)
        flat = separate(points, "identity", 64, 0, trained=True)
        assert flat.right <= best_line(points) < len(points.first)
    # A quadratic form can be a ring, and no spiral.
    assert separate(PRESETS["rings"](), "square", 8, 0, trained=False).right == 64
    assert separate(PRESETS["spirals"](), "square", 256, 0, trained=False).right < 40


def test_as_many_dimensions_as_points_are_enough_for_any_classes() -> None:
    rng = np.random.default_rng(0)
    places = rng.permutation(SIDE * SIDE)[:20]
    for _ in range(3):
        points = Points(np.stack(divmod(places, SIDE), axis=1), rng.random(20) < 0.5)
        assert by_width(points, "tanh", (4, 19), draw=1)[-1] == 20


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("phi", PHIS)
def test_the_picture_is_the_networks(phi: str, trained: bool) -> None:
    points = PRESETS["xor"]()
    found = separate(points, phi, 6, 3, trained)
    before = points.xy @ found.weight.T + found.bias
    lifted = PHIS[phi].function(torch.from_numpy(before)).numpy()
    with_one = np.concatenate([lifted, np.ones((64, 1))], axis=1)
    wanted = np.where(points.first, 1.0, -1.0)
    if not trained:  # least squares, by NumPy
        out = np.linalg.lstsq(with_one, wanted, rcond=1e-10)[0]
        score = with_one @ out
        assert_allclose(found.away * np.linalg.norm(out[:-1]), score, atol=1e-8)
    side = found.away > 1e-9
    assert found.right == int((side == points.first).sum())
    assert found.score.shape == (GRID, GRID)
    # The square's corner nearest to a point has the sign that the point has.
    near = np.rint(points.places / (SIDE - 1) * (GRID - 1)).astype(int)
    clear = np.abs(found.away) > 0.25 * np.abs(found.away).max()
    signs = found.score[near[:, 1], near[:, 0]] > 0
    if phi != "identity":
        assert clear.sum() > 10
        assert (signs == side)[clear].all()


def test_training_lowers_the_loss() -> None:
    points = PRESETS["spirals"]()
    before, after = (separate(points, "relu", 8, 0, trained).right for trained in (False, True))
    assert after > before


def test_a_wider_network_has_the_narrower_ones_units() -> None:
    points = PRESETS["rings"]()
    narrow, wide = (separate(points, "relu", width, 7, trained=False) for width in (4, 9))
    assert_allclose(wide.weight[:4], narrow.weight)
    assert_allclose(wide.bias[:4], narrow.bias)
    other = separate(points, "relu", 4, 8, trained=False)
    assert not np.allclose(other.weight, narrow.weight)


def test_no_points_and_one_point_are_points_too() -> None:
    for first in ([], [True], [False], [True, True]):
        places = np.arange(2 * len(first)).reshape(-1, 2)
        points = Points(places, np.array(first, dtype=bool))
        assert best_line(points) == len(first)
        for trained in (False, True):
            found = separate(points, "gelu", 3, 0, trained)
            assert found.right == len(first) == len(found.away)
            assert np.isfinite(found.score).all()
