"""The points of a person's own: in a link, from a browser, and on the page."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.parts.dimensions.separate import MOST, POINTS, SETTINGS, SIDE
from ffnviz.pictures.exercises import checked
from ffnviz.state.settings import Setting
from tests.parts.visits import opened, query
from tests.sent_cells import sent_cells

ONE = st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1), st.booleans())


@given(st.lists(ONE, max_size=MOST))
def test_points_survive_a_link(points: list[tuple[int, int, bool]]) -> None:
    text = POINTS.text(tuple(points))
    assert len(text) <= 2 * MOST + 1
    assert sorted(POINTS.parse(text)) == sorted(points)
    assert POINTS.text(POINTS.parse(text)) == text


@given(st.text(max_size=1_000))
def test_any_text_in_a_link_means_some_points(text: str) -> None:
    points = POINTS.parse(text)
    assert len(points) <= MOST
    assert POINTS.parse(POINTS.text(points)) == points


@pytest.mark.parametrize(
    "sent",
    [None, "AA", {}, [[1, 2]], [[1, 2, 3]], [[-1, 0, 1]], [[0, SIDE, 1]], [[0.5, 0, 1]],
     [[True, 0, 1]], [["0", 0, 1]], [[0, 0, 1]] * (MOST + 1)],
)  # fmt: skip
def test_what_no_square_sends_is_no_points(sent: Any) -> None:
    assert checked(sent, SIDE, MOST) is None


def test_what_a_square_sends_are_its_points() -> None:
    assert checked([[0, 63, 1], [5, 5, 0]], SIDE, MOST) == [(0, 63, True), (5, 5, False)]
    assert checked([], SIDE, MOST) == []


@pytest.mark.parametrize(
    "more",
    [{"shape": "mine"}, {"shape": "mine", "points": "AA."}, {"shape": "mine", "points": "AAAA.AA"},
     {"lift": "1", "lift_phi": "identity"}, {"lift": "99999", "lift_phi": "square"},
     {"lift_draw": "-3", "lift_w1": "trained"}],
)  # fmt: skip
def test_a_link_of_any_kind_is_shown(more: dict[str, str]) -> None:
    app = opened("dimensions", part="separate", **more)
    assert "rail" in sent_cells(app)
    shown = query(app)
    settings: tuple[Setting[Any], ...] = SETTINGS
    for setting in settings:
        if setting.name in shown:
            assert setting.text(setting.parse(shown[setting.name])) == shown[setting.name]
