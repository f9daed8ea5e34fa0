"""Linear separability: points that no line divides, lifted to where a flat cut does."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.dimensions.points import MOST, PRESETS, SIDE, Points, best_line
from ffnviz.analysis.dimensions.separate import PHIS, Separated, by_width, separate
from ffnviz.figures.dimensions import separate as figures
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.sheet import Button, Sheet, row, set_to
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.points import Point, points_cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting

CLASSES = ("circles", "squares")
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)
DRAWS = 999
SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"  # one a place


def _read(text: str) -> tuple[Point, ...]:
    """Points from their text in a URL: two signs each, the first class, a dot, the second."""
    points = [
        (SIGNS.index(x), SIGNS.index(y), place == 0)
        for place, group in enumerate(text.split(".")[:2])
        for x, y in zip(group[::2], group[1::2], strict=False)
        if x in SIGNS and y in SIGNS
    ]
    return tuple(points[:MOST])


def _written(points: tuple[Point, ...]) -> str:
    groups = (
        "".join(SIGNS[x] + SIGNS[y] for x, y, first in points if first == one)
        for one in (True, False)
    )
    return ".".join(groups)


SHAPE = choice_setting(
    "shape",
    {"rings": "rings", "spirals": "spirals", "xor": "XOR", "halves": "halves", "mine": "my points"},
).with_control("Points")
POINTS: Setting[tuple[Point, ...]] = Setting("points", (), _read, _written)
PHI = choice_setting(
    "lift_phi", {"relu": "ReLU"} | {n: each.label for n, each in PHIS.items()}
).with_control("φ")
D_FF = count_setting("lift", 8, WIDTHS[0], WIDTHS[-1]).with_control("d_ff, hidden units", WIDTHS)
FIRST = choice_setting("lift_w1", {"random": "random W₁", "trained": "trained W₁"}).with_control(
    "First layer"
)
DRAW = count_setting("lift_draw", 0, 0, DRAWS)
SETTINGS = (SHAPE, POINTS, PHI, D_FF, FIRST, DRAW)
HOW = (
    "Click in the square to add a point, on a point to remove it. The thin lines are where the "
    "hidden units bend. This small network has nothing to do with your sentence.",
)


def sheet(run: Run, values: Values) -> Sheet:
    """The points in their square, beside the points lifted."""
    points, own = points_of(values)
    phi, d_ff, draw, first = values[PHI], values[D_FF], values[DRAW], values[FIRST]
    per_network, written = run.subject.per_network, _written(own)
    lifted = per_network(
        f"separated {written} {phi} {d_ff} {draw} {first}",
        lambda: separate(points, phi, d_ff, draw, first == "trained"),
    )
    line = per_network(f"best line {written}", lambda: best_line(points))
    square = the_points(run, own, PHIS[phi].label, lifted, line)
    seen = [text_cell("no-points", "Without points there is nothing to see.", tone="quiet")]
    if own:
        right = per_network(
            f"by width {written} {phi} {draw}", lambda: by_width(points, phi, WIDTHS, draw)
        )
        widths = against_width(run, len(own), right, line, d_ff)
        seen = [what_the_cut_sees(run, points, lifted), widths]
    again = Button("Draw W₁ again", set_to(DRAW, (draw + 1) % (DRAWS + 1)))
    return Sheet([row(square, seen)], [SHAPE, PHI, FIRST, D_FF, again])


def points_of(values: Values) -> tuple[Points, tuple[Point, ...]]:
    """The preset's points, or the person's own: as an analysis has them, and as the square has."""
    shape = values[SHAPE]
    if shape not in PRESETS:
        own = values[POINTS]
        places = np.array([point[:2] for point in own], dtype=np.int64).reshape(-1, 2)
        return Points(places, np.array([point[2] for point in own], dtype=bool)), own
    points = PRESETS[shape]()
    rows = zip(points.places.tolist(), points.first.tolist(), strict=True)
    return points, tuple((x, y, first) for (x, y), first in rows)


def the_points(run: Run, own: tuple[Point, ...], phi: str, lifted: Separated, line: int) -> Cell:
    """The square in which points are added and removed."""
    n, d_ff = len(own), len(lifted.bias)
    sentence: Sentence = ["There are no points yet: click in the square, or choose some."]
    if n:
        sentence = [
            f"Lifted to {d_ff:,} dimension{'s' * (d_ff > 1)} with {phi}, ",
            number(f"{lifted.right} of {n} points"), " are on the correct side of a flat cut; ",
        ]  # fmt: skip
        sentence.append(
            f"no straight line in the plane does better than {line}."
            if line < n
            else "here a straight line in the plane can do it too."
        )
    return points_cell(
        Head(sentence, "separate", run.card.colour, under=HOW),
        own,
        SIDE,
        MOST,
        CLASSES,
        lifted.score,
        bends(lifted) if phi != PHIS["identity"].label else np.zeros((0, 4)),
        "Points of two classes",
        key="points",
        on_change=lambda new: Set({SHAPE.name: "mine", POINTS.name: _written(tuple(new))}),
    )


def bends(separated: Separated) -> NDArray[np.float64]:
    """The lines on which a unit's pre-activation is 0, longer than the square, (d_ff, 4)."""
    length = np.linalg.norm(separated.weight, axis=1, keepdims=True).clip(1e-9)
    normal = separated.weight / length
    foot = -separated.bias[:, None] / length * normal
    along = 3 * np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    return np.concatenate([foot - along, foot + along], axis=1)


def what_the_cut_sees(run: Run, points: Points, lifted: Separated) -> Cell:
    """The lifted points, with the cut seen edge-on."""
    wrong = len(points.first) - lifted.right
    sentence: Sentence = [
        "Seen edge-on, the cut is a straight line, with ",
        number(f"{wrong} point{'s' * (wrong != 1)}"), " on the wrong side.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "lifted", run.card.colour),
        figures.lifted(lifted.away, lifted.across, points.first, CLASSES),
        "The lifted points by their distance from the flat cut and their place along it.",
        height=305,
    )


def against_width(run: Run, n: int, right: NDArray[np.int64], line: int, d_ff: int) -> Cell:
    """How many points are on the correct side with a random W₁ of each width."""
    enough = [width for width, count in zip(WIDTHS, right, strict=True) if count == n]
    sentence: Sentence = (
        ["Even with a random W₁, a d_ff of ", number(f"{enough[0]:,}"), " is enough for all."]
        if enough
        else ["With a random W₁ ", number(f"no d_ff up to {WIDTHS[-1]}"), " is enough."]
    )
    return chart_cell(
        Head(sentence, "lifted-width", run.card.colour),
        figures.by_width(WIDTHS, right, n, line, d_ff, f"@{run.card.colour}"),
        "The share of points on the correct side of the cut against the number of hidden units.",
        height=272,
    )
