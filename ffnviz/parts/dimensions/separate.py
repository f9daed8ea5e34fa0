"""Linear separability: points that no line separates, lifted to where a flat cut does.

This is an FFN in small: 2 → d_ff → 1. The more dimensions, the likelier such a hyperplane; in
general position, d_ff ≥ n − 1 suffice for n points of any two classes (Cover 1965).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.torch_shortcuts import Adam
from ffnviz.parts.sheet import Button, Sheet, row, set_to
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.exercises import Point, PointEditor
from ffnviz.pictures.plot import Array, Figure
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import counted, number
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting, count_slider

SIDE = 64  # grid positions along each edge of the square
MOST = 120
PER_CLASS = 32  # points of a class in a preset


@dataclass(frozen=True)
class Points:
    """Points of two classes on a grid of SIDE × SIDE."""

    places: NDArray[np.int64]  # columns and rows, from 0 to SIDE − 1, the lowest row first, (n, 2)
    first: NDArray[np.bool_]  # whether each is of the first class, (n,)

    @property
    def xy(self) -> Array:
        """The points in the square from −1 to 1, (n, 2)."""
        return self.places / (SIDE - 1) * 2 - 1

    def as_tensors(self) -> tuple[Tensor, Tensor]:
        """`xy`, and the classes as ±1, (n,)."""
        return torch.from_numpy(self.xy), torch.from_numpy(np.where(self.first, 1.0, -1.0))


def of_xy(one: Array, other: Array) -> Points:
    """Two classes of points in the square from −1 to 1, (n, 2) each, moved to the grid."""
    xy = np.concatenate([one, other])
    places = np.rint((np.clip(xy, -1, 1) + 1) / 2 * (SIDE - 1)).astype(np.int64)
    return Points(places, np.arange(len(xy)) < len(one))


def rings() -> Points:
    """One class around the other."""
    number = np.arange(PER_CLASS)
    inner = 0.35 * np.sqrt((number + 0.5) / PER_CLASS)
    disc = _polar(inner, 2.4 * number)  # the golden angle spreads them evenly
    return of_xy(disc, _polar(np.full(PER_CLASS, 0.8), 2 * np.pi * number / PER_CLASS))


def spirals() -> Points:
    """Two arms around each other."""
    radius = np.linspace(0.12, 0.95, PER_CLASS)
    return of_xy(_polar(radius, 7.5 * radius), _polar(radius, 7.5 * radius + np.pi))


def xor() -> Points:
    """Opposite corners are of one class (Minsky & Papert 1969)."""
    side = np.linspace(0.25, 0.85, 4)
    corner = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)  # (16, 2)
    flip = np.array([-1.0, 1.0])
    return of_xy(np.concatenate([corner, -corner]), np.concatenate([corner * flip, -corner * flip]))


def halves() -> Points:
    """Two classes that a straight line separates."""
    y, x = np.linspace(-0.85, 0.85, 8), np.linspace(0.2, 0.8, 4)
    left = np.stack(np.meshgrid(-x, y), axis=-1).reshape(-1, 2)  # (32, 2)
    slope = np.array([0.0, 0.2])
    return of_xy(left + slope * left[:, :1], -left + slope * left[:, :1])


PRESETS = {"rings": rings, "spirals": spirals, "xor": xor, "halves": halves}


def best_line(points: Points) -> int:
    """How many points lie on their class's side of the best straight line, computed exactly.

    Every division by a line is one by a line through two points, slightly rotated; all are tried.
    """
    first, n = points.first, len(points.first)
    target = np.where(first, 1, -1)[:, None]
    best = max(int(first.sum()), int((~first).sum()))
    places = np.unique(points.places, axis=0)
    for place in range(len(places) - 1):
        steps = points.places - places[place]
        others = places[place + 1 :] - places[place]
        shortest = others // np.gcd(np.abs(others[:, 0]), np.abs(others[:, 1]))[:, None]
        directions = np.unique(shortest, axis=0)  # each once, (k, 2)
        side = np.sign(steps @ np.stack([-directions[:, 1], directions[:, 0]]))  # (n, k)
        right, wrong = (side == target).sum(axis=0), (side == -target).sum(axis=0)
        at_most = n - np.minimum(right, wrong)  # for lines close to each: points on it are right
        for direction in directions[at_most > best]:
            best = max(best, _best_along(steps, first, direction))
        if best == n:
            break
    return best


def _best_along(
    steps: NDArray[np.int64], first: NDArray[np.bool_], direction: NDArray[np.int64]
) -> int:
    """The most points that a line close to the one in this direction puts on their class's side."""
    side = steps @ np.array([-direction[1], direction[0]])
    on = side == 0
    left = int((first & (side > 0)).sum() + (~first & (side < 0)).sum())
    right = int((~first & (side > 0)).sum() + (first & (side < 0)).sum())
    positions, index = np.unique(steps[on] @ direction, return_inverse=True)
    ones = np.bincount(index, first[on], len(positions))
    others = np.bincount(index, ~first[on], len(positions))
    # A rotation puts what lies before a gap on one side and the rest on the other.
    gain = np.concatenate([[0], np.cumsum(ones - others)])
    split = max((others.sum() + gain).max(), (ones.sum() - gain).max())
    return int(max(left, right) + split)


def _polar(radius: Array, angle: Array) -> Array:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


SQUARE = Activation("square", "x²", r"x^2", torch.square, source="Livni et al. 2014")
PHIS: dict[str, Activation] = {
    **{name: ACTIVATIONS[name] for name in ("identity", "sigmoid", "tanh", "relu", "gelu")},
    "square": SQUARE,
}
WIDEST = 256
STEEP = 3.0  # ‖w‖ of each unit: a sigmoid bends within the square
GRID = 65
STEPS = 120
RATE = 0.06
NOTHING = 1e-9  # a smaller score is rounding


@dataclass(frozen=True)
class Separated:
    """A network 2 → d_ff → 1, and how it divides the points."""

    right: int  # the number of points on their class's side
    # the read-out over the square, lowest row first, (GRID, GRID); above 0 for the first class
    score: Array
    weight: Array  # W₁'s columns, (d_ff, 2)
    bias: Array  # b₁, (d_ff,)
    away: Array  # each lifted point's signed distance from the hyperplane, (n,)
    across: Array  # its position on the first principal axis within that, (n,)


@dataclass(frozen=True)
class _Layers:
    phi: Activation
    weight: Tensor  # (d_ff, 2)
    bias: Tensor  # (d_ff,)
    out: Tensor  # (d_ff,)
    out_bias: Tensor  # ()

    def lift(self, x: Tensor) -> Tensor:
        """φ(x W₁ + b₁), (n, 2) -> (n, d_ff)."""
        return self.phi.function(F.linear(x, self.weight, self.bias))

    def score(self, x: Tensor) -> Tensor:
        """The read-out, (n, 2) -> (n,)."""
        return self.lift(x) @ self.out + self.out_bias

    def right(self, x: Tensor, target: Tensor) -> int:
        """The number of points, (n, 2), on the side of their class, (n,) of ±1."""
        return int(((self.score(x) > NOTHING) == (target > 0)).sum())


@torch.no_grad()
def separate(points: Points, phi: str, d_ff: int, draw: int, trained: bool) -> Separated:
    """Lift the points by a random W₁, and divide the classes by the least-squares read-out.

    With `trained`, Adam then trains all weights on the logistic loss. `phi` is a name in PHIS, and
    `draw` numbers the random draws.
    """
    x, target = points.as_tensors()
    layers = _random_layers(d_ff, phi, draw, x, target)
    if trained and len(x):
        layers = _train(layers, x, target)
    score = layers.score(square_grid(GRID)).reshape(GRID, GRID).float().numpy()
    right, (away, across) = layers.right(x, target), _along_the_cut(layers, x)
    return Separated(right, score, layers.weight.numpy(), layers.bias.numpy(), away, across)


def square_grid(n: int) -> Tensor:
    """A grid of n × n points over the square, the lowest row first, (n², 2)."""
    side = torch.linspace(-1, 1, n, dtype=torch.float64)
    return torch.stack(torch.meshgrid(side, side, indexing="xy"), dim=-1).flatten(0, 1)


@torch.no_grad()
def by_width(points: Points, phi: str, widths: Sequence[int], draw: int) -> NDArray[np.int64]:
    """The number of points on their class's side with a random W₁ of each width, (n_widths,)."""
    x, target = points.as_tensors()
    fits = [_random_layers(d_ff, phi, draw, x, target) for d_ff in widths]
    return np.array([layers.right(x, target) for layers in fits])


def _random_layers(d_ff: int, phi: str, draw: int, x: Tensor, target: Tensor) -> _Layers:
    """Random W₁ and b₁, with the shortest read-out of all with the least squared error."""
    generator = torch.Generator().manual_seed(draw)
    uniform = torch.rand(WIDEST, 2, generator=generator, dtype=torch.float64)[:d_ff]
    zeros = torch.zeros(d_ff, dtype=torch.float64)
    layers = _Layers(PHIS[phi], *first_layer(uniform), zeros, zeros.sum())
    if not len(x):
        return layers
    out = least_squares(with_one(layers.lift(x)), target[:, None])
    return replace(layers, out=out[:-1, 0], out_bias=out[-1, 0])


def first_layer(uniform: Tensor) -> tuple[Tensor, Tensor]:
    """W₁ and b₁ from numbers in 0 … 1, (…, d_ff, 2) -> (…, d_ff, 2) and (…, d_ff).

    Each neuron bends along a line that crosses the square.
    """
    angle, offset = 2 * torch.pi * uniform[..., 0], 2 * uniform[..., 1] - 1
    return STEEP * torch.stack([angle.cos(), angle.sin()], dim=-1), STEEP * offset


def with_one(values: Tensor) -> Tensor:
    """A last column of ones, by which a bias is multiplied, (…, n, d) -> (…, n, d + 1)."""
    return torch.cat([values, torch.ones_like(values[..., :1])], dim=-1)


def least_squares(x: Tensor, y: Tensor) -> Tensor:
    """The shortest of all solutions: ReLU neurons may be inactive on all inputs."""
    best: Tensor = torch.linalg.lstsq(x, y, rcond=1e-10, driver="gelsd").solution
    return best


def _train(layers: _Layers, x: Tensor, target: Tensor) -> _Layers:
    """Train all weights by Adam on the mean of log(1 + exp(−target · score))."""
    start = (layers.weight, layers.bias, layers.out, layers.out_bias)
    weights = [weight.clone().requires_grad_() for weight in start]
    optimiser = Adam(weights, RATE)
    with torch.enable_grad():
        for _ in range(STEPS):
            loss = F.softplus(-target * _Layers(layers.phi, *weights).score(x)).mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return _Layers(layers.phi, *(weight.detach() for weight in weights))


def _along_the_cut(layers: _Layers, x: Tensor) -> tuple[Array, Array]:
    """Each lifted point's signed distance from the cut, and its position along it, (n,) each."""
    if not len(x):
        return np.zeros(0), np.zeros(0)
    length = layers.out.norm()
    if length < NOTHING:  # there is no cut: every point is equally far away
        length = torch.ones_like(length)
    lifted, normal = layers.lift(x), layers.out / length
    rest = lifted - torch.outer(lifted @ normal, normal)
    rest = rest - rest.mean(dim=0)
    axis = torch.linalg.svd(rest, full_matrices=False).Vh[0]
    return (layers.score(x) / length).numpy(), (rest @ axis).numpy()


MARKS = (  # of the two classes
    {"color": "@positive_mid", "symbol": "circle"},
    {"color": "@negative_mid", "symbol": "square"},
)


def lifted_figure(
    away: Array, across: Array, first: NDArray[np.bool_], names: tuple[str, str]
) -> Figure:
    """How far each point is from the cut, which stands on edge, and its place along it."""
    hover = "%{x:.2f} from the cut<extra></extra>"
    traces = [
        plot.dots(name, away[chosen], across[chosen], {"size": 10, **mark}, hovertemplate=hover)
        for name, chosen, mark in zip(names, (first, ~first), MARKS, strict=True)
    ]
    reach = 1.1 * float(np.abs(away).max(initial=1e-2))
    tall = 1.15 * float(np.abs(across).max(initial=1e-2))
    return plot.figure(
        traces,
        plot.axis("distance from the flat cut", range=[-reach, reach], zeroline=False),
        plot.axis("along the cut, axis 1", range=[-tall, tall], zeroline=False),
        shapes=[plot.vertical_line(0, 3, "solid")],
    )


def by_width_figure(
    widths: Sequence[int], right: NDArray[np.integer], n: int, line: int, d_ff: int, colour: str
) -> Figure:
    """The points on their side against d_ff."""
    x, y = np.array(widths), 100 * right / max(1, n)
    at = int(np.abs(x - d_ff).argmin())
    return plot.figure(
        [
            plot.line_trace("best straight line of all", x, np.full(len(x), 100 * line / max(1, n)),
                            "@muted", 2, "dash", hoverinfo="none"),
            plot.line_trace("random W₁, φ, a flat cut", x, y, colour, 3, dots=8, customdata=right,
                            meta={"counts": right.tolist()},
                            hovertemplate="d_ff %{x}: %{customdata} points<extra></extra>"),
            plot.ring(f"d_ff {widths[at]}", x[at : at + 1], y[at : at + 1], colour, 15),
        ],
        plot.log_axis("d_ff", [2**k for k in range(9)]),
        plot.axis("% on the correct side", range=[38, 104]),
    )  # fmt: skip


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
D_FF = count_slider("lift", 8, WIDTHS, "d_ff, hidden neurons")
FIRSTS = {"random": "random W₁", "trained": "trained W₁"}
FIRST = choice_setting("lift_w1", FIRSTS).with_control("First matrix")
DRAW = count_setting("lift_draw", 0, 0, DRAWS)
SETTINGS = (SHAPE, POINTS, PHI, D_FF, FIRST, DRAW)
HOW = (
    "Click in the square to add a point, on a point to remove it. The thin lines are where the "
    "hidden neurons bend. This small network has nothing to do with your sentence."
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
    if shape in PRESETS:
        points = PRESETS[shape]()
        rows = zip(points.places.tolist(), points.first.tolist(), strict=True)
        return points, tuple((x, y, first) for (x, y), first in rows)
    own = values[POINTS]
    columns = np.array(own, dtype=np.int64).reshape(-1, 3)  # x, y, and whether of the first class
    return Points(columns[:, :2], columns[:, 2] > 0), own


def the_points(run: Run, own: tuple[Point, ...], phi: str, lifted: Separated, line: int) -> Cell:
    """The square in which points are added and removed."""
    n, d_ff = len(own), len(lifted.bias)
    points = counted(n, "point")
    sentence = "There are no points yet: click in the square, or choose some."
    if n:
        sentence = (
            f"Lifted to {counted(d_ff, 'dimension')} with {phi}, "
            f"{number(f'{lifted.right} of {points}')} "
            f"{'is' if lifted.right == 1 else 'are'} on the correct side of a flat cut; "
        )
        sentence += (
            f"no straight line in the plane does better than {line}."
            if line < n
            else "here a straight line in the plane can do it too."
        )
    return PointEditor(
        head=Head(sentence, "separate", run.card.colour, under=HOW),
        points=own,
        side=SIDE,
        most=MOST,
        classes=CLASSES,
        score=lifted.score,
        lines=bends(lifted) if phi != PHIS["identity"].label else np.zeros((0, 4)),
        label="Points of two classes",
        on_change=lambda new: Set({SHAPE.name: "mine", POINTS.name: _written(tuple(new))}),
    ).to_cell("points")


def bends(separated: Separated) -> Array:
    """The lines on which a unit's pre-activation is 0, longer than the square, (d_ff, 4)."""
    length = np.linalg.norm(separated.weight, axis=1, keepdims=True).clip(1e-9)
    normal = separated.weight / length
    foot = -separated.bias[:, None] / length * normal
    along = 3 * np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    return np.concatenate([foot - along, foot + along], axis=1)


def what_the_cut_sees(run: Run, points: Points, lifted: Separated) -> Cell:
    """The lifted points, with the cut seen edge-on."""
    wrong = len(points.first) - lifted.right
    sentence = (
        f"Seen edge-on, the cut is a straight line, with {number(counted(wrong, 'point'))} on the "
        "wrong side."
    )
    figure = lifted_figure(lifted.away, lifted.across, points.first, CLASSES)
    alt = "The lifted points by their distance from the flat cut and their place along it."
    return chart_cell(Head(sentence, "lifted", run.card.colour), figure, alt, height=305)


def against_width(run: Run, n: int, right: NDArray[np.int64], line: int, d_ff: int) -> Cell:
    """How many points are on the correct side with a random W₁ of each width."""
    enough = [width for width, count in zip(WIDTHS, right, strict=True) if count == n]
    sentence = (
        f"Even with a random W₁, a d_ff of {number(f'{enough[0]:,}')} is enough for all."
        if enough
        else f"With a random W₁ {number(f'no d_ff up to {WIDTHS[-1]}')} is enough."
    )
    figure = by_width_figure(WIDTHS, right, n, line, d_ff, f"@{run.card.colour}")
    alt = "The share of points on the correct side of the cut against the number of hidden neurons."
    return chart_cell(Head(sentence, "lifted-width", run.card.colour), figure, alt, height=272)
