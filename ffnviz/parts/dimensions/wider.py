"""Why wider? Points separated, a curve fitted and pairs stored, by FFNs of five widths.

y = φ(x W₁ + b₁) W₂ + b₂ with d_model = 2. W₁ and b₁ are random; W₂ and b₂ are the least-squares
fit, in closed form (random features: Rahimi & Recht 2008). Without φ, y is an affine map of x,
whatever d_ff is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.parts.dimensions.separate import (
    CLASSES,
    MARKS,
    NOTHING,
    STEEP,
    best_line,
    first_layer,
    least_squares,
    rings,
    square_grid,
    with_one,
)
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, Trace
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import Sentence, counted, listed, number, percent
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting, nearest

D_MODEL = 2
WIDTHS = (1, 2, 4, 8, 16)
TIMES = ("½", "1", "2", "4", "8")  # as many as d_model
BEND_ALONE = WIDTHS.index(D_MODEL)
DRAWS = 199  # of W₁: odd, so that one has the median error
PAIRS = 16
SEED = 0
GRID = 41

WIDER = count_setting("wider", 8, WIDTHS[0], WIDTHS[-1]).with_control(
    "d_ff", WIDTHS, lambda d_ff: f"{d_ff} = {TIMES[nearest(WIDTHS, d_ff)]} × d_model"
)
SETTINGS = (WIDER,)
QUIET: plot.Options = {"showlegend": False, "hoverinfo": "skip"}


@dataclass(frozen=True)
class Toy:
    """Something to learn."""

    x: Tensor  # inputs, (n, D_MODEL)
    y: Tensor  # what is wanted, (n, m)
    # weight, bias: random W₁ and b₁, of which a narrower FFN has the first columns: (DRAWS, d_ff,
    # D_MODEL) and (DRAWS, d_ff)
    weight: Tensor
    bias: Tensor
    error: Callable[[Tensor, Tensor], Tensor]  # of outputs, (…, n, m) and y -> (…), from 0
    without: float  # the least error that any d_ff, W₁ and W₂ have without φ


@dataclass(frozen=True)
class Network:
    """An FFN with a random first layer and a fitted second one."""

    phi: Activation
    weight: Tensor  # (d_ff, D_MODEL)
    bias: Tensor  # (d_ff,)
    out: Tensor  # W₂ above b₂, (d_ff + 1, m)

    def __call__(self, x: Tensor) -> Tensor:
        """(n, D_MODEL) -> (n, m)."""
        return with_one(self.phi.function(x @ self.weight.mT + self.bias)) @ self.out


@dataclass(frozen=True)
class Fitted:
    """A toy at one width."""

    errors: Array  # of each draw, (DRAWS,)
    middle: Network  # of the draw that has their median

    @property
    def median(self) -> float:
        """The error of the middle draw."""
        return float(np.median(self.errors))


@dataclass(frozen=True)
class Answer:
    """A toy at all widths."""

    toy: Toy
    fits: tuple[Fitted, ...]  # one a width


def points() -> Toy:
    """Two rings of points, and ±1; the error is the proportion on the wrong side."""
    drawn = rings()
    x, target = drawn.as_tensors()
    return Toy(x, target[:, None], *random_layers(), wrong, 1 - best_line(drawn) / len(x))


def curve() -> Toy:
    """A wave of one and a half periods; an input is the number x and a 1, whose weight is b₁."""
    x = torch.linspace(-1, 1, 201, dtype=torch.float64)
    weight, bias = random_layers()
    slope = STEEP * weight[..., 0].sign()
    toy_x, y = torch.stack([x, torch.ones_like(x)], dim=1), torch.sin(1.5 * torch.pi * x)[:, None]
    keys = torch.stack([slope, bias], dim=-1)
    return Toy(toy_x, y, keys, torch.zeros_like(bias), off, off_by_line(toy_x, y))


def pairs() -> Toy:
    """Random keys and values in a square: what is asked for is the value of each key."""
    generator = torch.Generator().manual_seed(SEED + 6)
    drawn = 2 * torch.rand(2, PAIRS, D_MODEL, generator=generator, dtype=torch.float64) - 1
    return Toy(drawn[0], drawn[1], *random_layers(), off, off_by_line(drawn[0], drawn[1]))


TOYS = {"points": points, "curve": curve, "pairs": pairs}


def random_layers() -> tuple[Tensor, Tensor]:
    """W₁ and b₁ of all draws."""
    generator = torch.Generator().manual_seed(SEED)
    uniform = torch.rand(DRAWS, WIDTHS[-1], 2, generator=generator, dtype=torch.float64)
    return first_layer(uniform)


def wrong(outputs: Tensor, y: Tensor) -> Tensor:
    """The proportion of outputs, (…, n, 1), without the sign of y."""
    return ((outputs > NOTHING) != (y > 0)).double().mean(dim=(-2, -1))


def off(outputs: Tensor, y: Tensor) -> Tensor:
    """The root mean square error of outputs, (…, n, m), as a proportion of y's spread."""
    spread = (y - y.mean(dim=0)).square().sum()
    return ((outputs - y).square().sum(dim=(-2, -1)) / spread).sqrt()


def off_by_line(x: Tensor, y: Tensor) -> float:
    """The error of the best affine map: all that W₁ and W₂ are without φ."""
    flat = with_one(x)
    return float(off(flat @ least_squares(flat, y), y))


@torch.no_grad()
def answers(phi: Activation) -> dict[str, Answer]:
    """All toys at all widths, by the names in TOYS."""
    found = {}
    for name, make in TOYS.items():
        toy = make()
        found[name] = Answer(toy, tuple(fitted(toy, phi, d_ff) for d_ff in WIDTHS))
    return found


def fitted(toy: Toy, phi: Activation, d_ff: int) -> Fitted:
    """Fit W₂ and b₂ behind every draw of a first layer of d_ff neurons."""
    weight, bias = toy.weight[:, :d_ff], toy.bias[:, :d_ff]
    hidden = with_one(phi.function(toy.x @ weight.mT + bias[:, None]))  # (DRAWS, n, d_ff + 1)
    out = least_squares(hidden, toy.y.expand(DRAWS, *toy.y.shape))
    errors = toy.error(hidden @ out, toy.y)
    at = int(errors.argsort(stable=True)[DRAWS // 2])
    return Fitted(errors.numpy(), Network(phi, weight[at], bias[at], out[at]))


def sheet(run: Run, values: Values) -> Sheet:
    """The three pictures, above what they find together."""
    found, place = answers_of(run), nearest(WIDTHS, values[WIDER])
    draw = {"points": the_points, "curve": the_curve, "pairs": the_pairs}
    pictures = [draw[name](run, answer, place) for name, answer in found.items()]
    return Sheet([row(*pictures, widths=(1.1, 1, 1.1)), row(what_it_takes(found))])


def phi_of(run: Run) -> Activation:
    """The network's φ; ReLU where that is a gate's, another's, or none."""
    name = run.card.phi.name
    usable = name in ACTIVATIONS and name != "identity" and not ACTIVATIONS[name].gated
    return ACTIVATIONS[name if usable else "relu"]


def answers_of(run: Run) -> dict[str, Answer]:
    """What the toys are with the φ of the network at hand, computed once."""
    phi = phi_of(run)
    return run.subject.per_network(f"wider {phi.name}", lambda: answers(phi))


def the_points(run: Run, answer: Answer, place: int) -> Cell:
    """Two classes, and the boundary that a linear read-out of the hidden layer draws."""
    grid = square_grid(GRID)
    side = grid[:GRID, 0].numpy()  # of the lowest row
    x, first = answer.toy.x.numpy(), (answer.toy.y[:, 0] > 0).numpy()
    edge = {"line": {"color": "@background", "width": 1}}

    def panel(network: Network, on: dict[str, Any]) -> list[Trace]:
        more = {**QUIET, **on}
        score = network(grid).reshape(GRID, GRID).clamp(-1, 1).numpy()
        return [
            {"type": "contour", "name": "boundary", "z": score, "x": side, "y": side,
             "showscale": False, "zmin": -2, "zmax": 2,
             "colorscale": [[0, "@negative_mid"], [0.5, "@background"], [1, "@positive_mid"]],
             "contours": {"coloring": "heatmap", "start": 0, "end": 0, "size": 1},
             "line": {"color": "@text", "width": 2.5}, "meta": {"decoration": True}, **more},
            *(plot.dots(name, x[which, 0], x[which, 1], {"size": 6, **edge, **mark}, **more)
              for name, which, mark in zip(CLASSES, (first, ~first), MARKS, strict=True)),
        ]  # fmt: skip

    said = f"{_off(answer, place)} of the points are on the wrong side."
    head = Head(said, "wider-points", run.card.colour)
    alt = "Points of two classes and the boundary of a linear read-out"
    return _cell(run, head, answer, place, panel, "% on the wrong side", alt)


def the_curve(run: Run, answer: Answer, place: int) -> Cell:
    """A wave, and the fit with as many bends as there are neurons."""
    x, y = answer.toy.x, answer.toy.y[:, 0].numpy()
    places, colour = x[:, 0].numpy(), f"@{run.card.colour}"

    def panel(network: Network, on: dict[str, Any]) -> list[Trace]:
        bends = -network.weight[:, 1] / network.weight[:, 0]
        at = torch.stack([bends, torch.ones_like(bends)], dim=1)
        fit, corners = (network(each)[:, 0].numpy() for each in (x, at))
        more, mark = {**QUIET, **on}, {"size": 7, "color": colour}
        return [
            plot.line_trace("the curve", places, y, "@muted/0.6", 6, **more),
            plot.line_trace("the fit", places, fit, colour, 2.5, **more),
            plot.dots("bends", bends.numpy(), corners, mark, **more),
        ]

    said = f"The curve is missed by {_off(answer, place)} of its spread."
    head = Head(said, "wider-curve", run.card.colour)
    title, alt = "% of its spread missed", "A wave and the fit"
    return _cell(run, head, answer, place, panel, title, alt, (1.0, 1.5))


def the_pairs(run: Run, answer: Answer, place: int) -> Cell:
    """Where each value is, and what its key recalls."""
    x, y, colour = answer.toy.x, answer.toy.y, f"@{run.card.colour}"
    unnamed: plot.Options = {"meta": {"decoration": True}, **QUIET}

    def panel(network: Network, on: dict[str, Any]) -> list[Trace]:
        recalled, gaps = network(x), torch.full_like(y, torch.nan)
        lines = torch.stack([y, recalled, gaps], dim=1).flatten(0, 1)
        misses, stored, said = (each.numpy().T for each in (lines, y, recalled))
        mark = {"size": 7, "color": colour}
        return [
            plot.line_trace("off", misses[0], misses[1], colour, 1.5, **unnamed, **on),
            plot.ring("stored values", stored[0], stored[1], "@muted", 12, **on),
            plot.dots("recalled values", said[0], said[1], mark, **QUIET, **on),
        ]

    said = f"{PAIRS} stored pairs come back {_off(answer, place)} off."
    head = Head(said, "wider-pairs", run.card.colour)
    alt = "The values that are stored and the values that are recalled"
    return _cell(run, head, answer, place, panel, "% off", alt, (1.15, 1.15))


def _off(answer: Answer, place: int) -> Sentence:
    """What is off at the width that is set, as a number in a sentence."""
    return number(percent(answer.fits[place].median))


def _cell(
    run: Run,
    head: Head,
    answer: Answer,
    place: int,
    panel: Callable[[Network, dict[str, Any]], list[Trace]],
    title: str,
    alt: str,
    reach: tuple[float, float] = (1.06, 1.06),
) -> Cell:
    """A toy with d_ff = d_model beside the width that is set, above its errors at all widths.

    The error stands against d_ff ÷ d_model: with φ, with the best W₁ of all draws, and without φ.
    """
    x, colour = np.array(WIDTHS) / D_MODEL, f"@{run.card.colour}"
    median = 100 * np.array([fit.median for fit in answer.fits])
    best = 100 * np.array([fit.errors.min() for fit in answer.fits])
    flat = np.full(len(x), 100 * answer.toy.without)
    meta = {"named": title}  # in its table: the sentence above says it, too
    hover = "%{x} × d_model: %{y:.3g}%<extra>%{fullData.name}</extra>"
    more: plot.Options = {"hovertemplate": hover, "meta": meta}
    traces = [
        plot.line_trace("without φ", x, flat, "@muted", 2.5, "dash", **more),
        plot.line_trace("best W₁", x, best, f"{colour}/0.6", 2, "dot", **more),
        plot.line_trace(phi_of(run).label, x, median, colour, 3, dots=8, **more),
        plot.ring("shown", x[[place]], median[[place]], colour, 14, meta=meta),
    ]
    for on, at in (("2", BEND_ALONE), ("3", place)):
        traces += panel(answer.fits[at].middle, {"xaxis": f"x{on}", "yaxis": f"y{on}"})
    drawn = _figure(traces, (BEND_ALONE, place), answer, reach)
    where = "with d_ff = d_model and at the width that is set, above the error at each width."
    return chart_cell(head, drawn, f"{alt}, {where}", height=500)


def _figure(
    traces: list[Trace], shown: tuple[int, int], answer: Answer, reach: tuple[float, float]
) -> Figure:
    highest = 100 * max(answer.toy.without, *(fit.median for fit in answer.fits))
    ticks = [d_ff / D_MODEL for d_ff in WIDTHS]
    axes, titles = {}, []
    for place, (at, left) in enumerate(zip(shown, (0.0, 0.51), strict=True), start=2):
        bare: plot.Options = {"showticklabels": False, "ticks": ""}
        square = {"scaleanchor": f"x{place}", "constrain": "domain"} if reach[0] == reach[1] else {}
        across: plot.Options = {"domain": [left, left + 0.49], "range": [-reach[0], reach[0]]}
        across["constrain"] = "domain"
        up = {"domain": [0.6, 1], "range": [-reach[1], reach[1]], **bare, **square}
        axes[f"xaxis{place}"] = plot.bare_axis("", anchor=f"y{place}", **across, **bare)
        axes[f"yaxis{place}"] = plot.bare_axis("", anchor=f"x{place}", **up)
        title = plot.panel_title(counted(WIDTHS[at], "neuron"), left + 0.245)
        titles.append(title | {"xanchor": "center", "align": "center", "font": {"size": 16}})
    return plot.figure(
        traces,
        plot.axis("d_ff ÷ d_model", type="log", tickvals=ticks, ticktext=list(TIMES), anchor="y"),
        plot.axis(
            "", domain=[0, 0.42], range=[0, 1.12 * highest], anchor="x", nticks=4, ticksuffix="%"
        ),
        **axes,
        annotations=titles,
        margin={"l": 44, "r": 4, "t": 34, "b": 52},
        legend={"orientation": "h", "x": 0, "y": 0.435, "yanchor": "bottom", "font": {"size": 14}},
    )


def what_it_takes(found: dict[str, Answer]) -> Cell:
    """What the bend alone does, what width does, and what the toys are."""
    without = listed(percent(answer.toy.without) for answer in found.values())
    bend, widest = (
        listed(percent(answer.fits[place].median) for answer in found.values())
        for place in (BEND_ALONE, -1)
    )
    return text_cell(
        "wider-toys",
        f"Without φ these errors are {without}. With φ, but no wider (d_ff = d_model), they are "
        f"{bend}; with {TIMES[-1]} × d_model neurons, {number(widest)}.",
        f"d_model is {D_MODEL} in these toys, so that you can see them; they have nothing to do "
        "with your sentence. W₁ is random and W₂ is fitted: each picture shows the middle one of "
        f"{DRAWS} draws of W₁, by its error.",
        tone="quiet",
    )
