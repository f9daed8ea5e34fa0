"""Separate the inseparable: points that no line divides, lifted to where a flat cut does."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ffnviz.analysis.dimensions.points import MOST, PRESETS, SIDE, Points, best_line
from ffnviz.analysis.dimensions.separate import PHIS, Separated, by_width, separate
from ffnviz.figures.dimensions import separate as figures
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.points import Point, point_square
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, choice_setting, count_setting

CLASSES = ("circles", "squares")
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)
DRAWS = 999
SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"  # one a place


def _read(text: str) -> tuple[Point, ...]:
    """Points as a URL has them: two signs each, the first class, a dot, the second."""
    found: list[Point] = []
    for place, group in enumerate(text.split(".")[:2]):
        for x, y in zip(group[::2], group[1::2], strict=False):
            if x in SIGNS and y in SIGNS:
                found.append((SIGNS.index(x), SIGNS.index(y), place == 0))
    return tuple(found[:MOST])


def _written(points: tuple[Point, ...]) -> str:
    groups = (
        "".join(SIGNS[x] + SIGNS[y] for x, y, first in points if first == one)
        for one in (True, False)
    )
    return ".".join(groups)


SHAPE = choice_setting(
    "shape",
    {"rings": "rings", "spirals": "spirals", "xor": "XOR", "halves": "halves", "mine": "my points"},
)
POINTS: Setting[tuple[Point, ...]] = Setting("points", (), _read, _written)
PHI = choice_setting("lift_phi", {"relu": "ReLU"} | {n: each.label for n, each in PHIS.items()})
D_FF = count_setting("lift", 8, WIDTHS[0], WIDTHS[-1])
FIRST = choice_setting("lift_w1", {"random": "random W₁", "trained": "trained W₁"})
DRAW = count_setting("lift_draw", 0, 0, DRAWS)
SETTINGS = (SHAPE, POINTS, PHI, D_FF, FIRST, DRAW)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The points, the controls, and what the read-out sees."""
    points = points_of(navigator)
    d_ff = WIDTHS[nearest(WIDTHS, navigator.value(D_FF), by_ratio=True)]
    square, controls, seen = st.columns([1.15, 0.75, 1.1], gap="medium")
    with controls:
        what_to_lift(navigator, d_ff)
    phi, draw = navigator.value(PHI), navigator.value(DRAW)
    trained = navigator.value(FIRST) == "trained"
    setup = (_written(_as_tuple(points)), phi, d_ff, draw, trained)
    found = run.subject.per_network(
        f"separated {setup}", lambda: separate(points, phi, d_ff, draw, trained)
    )
    line = run.subject.per_network(f"best line {setup[0]}", lambda: best_line(points))
    with square:
        the_points(run, navigator, points, found, line, setup)
    if not len(points.first):
        return
    with seen:
        what_the_cut_sees(run, points, found, setup)
        widths = f"by width {setup[0]} {phi} {draw}"
        right = run.subject.per_network(widths, lambda: by_width(points, phi, WIDTHS, draw))
        against_width(run, points, right, line, setup)


def points_of(navigator: Navigator) -> Points:
    """The preset, or the person's own."""
    shape = navigator.value(SHAPE)
    if shape in PRESETS:
        return PRESETS[shape]()
    own = navigator.value(POINTS)
    places = np.array([point[:2] for point in own], dtype=np.int64).reshape(-1, 2)
    return Points(places, np.array([point[2] for point in own], dtype=bool))


def _as_tuple(points: Points) -> tuple[Point, ...]:
    return tuple(
        (int(x), int(y), bool(first))
        for (x, y), first in zip(points.places, points.first, strict=True)
    )


def what_to_lift(navigator: Navigator, d_ff: int) -> None:
    """The preset, φ, d_ff, and where W₁ comes from."""
    st.selectbox("Points", **navigator.options(SHAPE))
    st.selectbox("φ", **navigator.options(PHI))
    slider(
        "d_ff, hidden units",
        [f"{width:,}" for width in WIDTHS],
        WIDTHS.index(d_ff),
        key="lift-d_ff",
        on_choose=lambda stop, done: navigator.choose(D_FF, WIDTHS[stop], done),
    )
    st.segmented_control("W₁", required=True, label_visibility="collapsed",
                         **navigator.options(FIRST))  # fmt: skip
    draw = navigator.value(DRAW)
    st.button("Draw W₁ again", on_click=navigator.choose, args=(DRAW, (draw + 1) % (DRAWS + 1)))
    st.markdown(
        "Click in the square to put a point; click a point to take it away. The thin lines are "
        "where the hidden units bend. This small network has nothing to do with your sentence."
    )


def the_points(
    run: Run, navigator: Navigator, points: Points, found: Separated, line: int,
    setup: tuple[object, ...],
) -> None:  # fmt: skip
    """The square."""

    def changed(new: list[Point]) -> None:
        navigator.do(Set({SHAPE.name: "mine", POINTS.name: _written(tuple(new))}))

    n, d_ff = len(points.first), len(found.bias)
    phi = PHIS[navigator.value(PHI)].label
    sentence: Sentence = ["There are no points yet: click in the square, or choose some."]
    if n:
        sentence = [
            "Lifted to ", number(f"{d_ff:,} dimension{'s' * (d_ff > 1)}"), f" with {phi}, ",
            number(f"{found.right} of {n} points"), " are on their side of a flat cut; ",
        ]  # fmt: skip
        sentence += (
            ["no straight line in the plane does better than ", number(f"{line}"), "."]
            if line < n
            else ["here a straight line in the plane can do it, too."]
        )
    point_square(
        Head(sentence, "separate", run.card.colour),
        _as_tuple(points),
        SIDE,
        MOST,
        CLASSES,
        found.score,
        bends(found) if navigator.value(PHI) != "identity" else np.zeros((0, 4)),
        "Points of two classes",
        f"{run.stamp} {setup}",
        key="points",
        on_change=changed,
    )


def bends(found: Separated) -> NDArray[np.float64]:
    """The line on which each unit's pre-activation is 0, longer than the square, (d_ff, 4)."""
    length = np.linalg.norm(found.weight, axis=1, keepdims=True).clip(1e-9)
    normal = found.weight / length
    foot = -found.bias[:, None] / length * normal
    along = 3 * np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    return np.concatenate([foot - along, foot + along], axis=1)


def what_the_cut_sees(
    run: Run, points: Points, found: Separated, setup: tuple[object, ...]
) -> None:
    """The lifted points, the cut on edge."""
    wrong = len(points.first) - found.right
    sentence: Sentence = [
        "Seen along the cut it is a straight line, with ",
        number(f"{wrong} point{'s' * (wrong != 1)}"), " on the wrong side.",
    ]  # fmt: skip
    chart(
        Head(sentence, "lifted", run.card.colour),
        figures.lifted(found.away, found.across, points.first, CLASSES),
        "The lifted points by their distance from the flat cut and their place along it.",
        f"{run.stamp} {setup}",
        key="lifted",
        height=330,
    )


def against_width(
    run: Run, points: Points, right: NDArray[np.int64], line: int, setup: tuple[object, ...]
) -> None:
    """How many are right with a random W₁ of each width."""
    n, d_ff = len(points.first), setup[2]
    enough = [width for width, found in zip(WIDTHS, right, strict=True) if found == n]
    sentence: Sentence = (
        ["Even with a random W₁, ", number(f"d_ff {enough[0]:,}"), " is enough for all of them."]
        if enough
        else ["With a random W₁ ", number(f"no d_ff up to {WIDTHS[-1]}"), " is enough."]
    )
    chart(
        Head(sentence, "lifted-width", run.card.colour),
        figures.by_width(WIDTHS, right, n, line, int(str(d_ff)), f"@{run.card.colour}"),
        "The share of points on their side of the cut against the number of hidden units.",
        f"{run.stamp} {setup}",
        key="lifted-width",
        height=300,
    )
