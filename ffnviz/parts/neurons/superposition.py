"""Superposition: five features in two dimensions, if each is rarely active.

x̂ = ReLU(Wᵀ W x + b) is trained to give x back (Elhage et al. 2022, “Toy models of superposition”).
W is 2 × 5. A feature is active with probability p, and then uniform between 0 and 1; feature i
counts 0.9ⁱ in the loss.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.measuring import Progress
from ffnviz.parts.sheet import Measured, Sheet, Soon, measured_row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import (
    Array,
    Figure,
    Options,
    axis,
    bare_axis,
    dots,
    figure,
    line_trace,
    ring,
)
from ffnviz.pictures.wording import number
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_slider, nearest

FEATURES, DIMENSIONS = 5, 2
PERCENT = (100, 50, 30, 20, 10, 5, 2)  # how often each feature is active
IMPORTANCE = 0.9
INITS = 4  # of which the best is kept
ROWS, STEPS, RATE = 192, 1_200, 0.02
CHECKED = 4_000  # rows by which the inits are compared
SEED = 0
HELD = 0.5  # ‖wᵢ‖² from which a feature is kept at all

ACTIVE = count_slider("active_percent", 10, PERCENT[::-1], "each is active", "{}% of the time")
SETTINGS = (ACTIVE,)


Packed = tuple[Array, ...]  # the trained toy's W at each of PERCENT, (DIMENSIONS, FEATURES)


def kept(weight: Array) -> NDArray[np.bool_]:
    """Which features the toy with these weights keeps, (FEATURES,)."""
    are_kept: NDArray[np.bool_] = np.square(weight).sum(axis=0) > HELD
    return are_kept


def sheet(run: Run, values: Values) -> Sheet:
    """The directions of the features, beside how many fit at each rarity."""
    place = nearest(PERCENT, values[ACTIVE])

    def cards(measured: Measured[Packed]) -> tuple[Cell, Cell]:
        return the_directions(run, measured.result, place), the_counts(run, measured.result, place)

    points = Soon("superposition", "Where each feature points", 500)
    fits = Soon("superposition-counts", "How many features fit", 500)
    soon = (points, fits)
    words = ("Measure", "Training seven toys …")
    return Sheet([measured_row("superposition", (), measure, cards, soon, words=words, once=True)])


def measure(_: Run, progress: Progress) -> Packed:
    """Train the toy at every rarity."""
    return pack(progress)


def pack(progress: Progress, steps: int = STEPS) -> Packed:
    """Train INITS toys at each of PERCENT, all at once by Adam, and keep the best of each."""
    generator = torch.Generator().manual_seed(SEED)
    active = torch.tensor(PERCENT).repeat_interleave(INITS)[:, None, None] / 100
    n = len(active)
    weight = (0.5 * torch.randn(n, DIMENSIONS, FEATURES, generator=generator)).requires_grad_()
    bias = torch.zeros(n, 1, FEATURES, requires_grad=True)
    adam = torch.optim.Adam([weight, bias], lr=RATE)

    def draw(rows: int) -> Tensor:
        uniform = torch.rand(2, n, rows, FEATURES, generator=generator)
        return uniform[0] * (uniform[1] < active)

    for step in range(steps):
        adam.param_groups[0]["lr"] = RATE * (1 - step / steps)
        adam.zero_grad()
        # Rare features make small losses: each toy counts alike.
        torch.autograd.backward((loss_of(weight, bias, draw(ROWS)) / active[:, 0, 0]).sum())
        adam.step()
        if step % 100 == 0:
            progress(step / steps)
    with torch.no_grad():
        best = loss_of(weight, bias, draw(CHECKED)).view(len(PERCENT), INITS).argmin(dim=1)
    trained = weight.detach().view(len(PERCENT), INITS, DIMENSIONS, FEATURES)
    return tuple(trained[at, each].numpy() for at, each in enumerate(best.tolist()))


def loss_of(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
    """The mean squared error of x̂, weighted by importance: (n, rows, FEATURES) -> (n,)."""
    importance = IMPORTANCE ** torch.arange(FEATURES)
    out = torch.relu(x @ weight.mT @ weight + bias)
    return (importance * (x - out).square()).mean(dim=(1, 2))


def the_directions(run: Run, packed: Packed, place: int) -> Cell:
    """An arrow a feature: its column of W."""
    weight = packed[place]
    # How much of one active feature shows in another's output, but for the bias.
    shared = weight.T @ weight
    np.fill_diagonal(shared, 0)
    n_kept = int(kept(weight).sum())
    sentence = (
        f"Features that are active {PERCENT[place]}% of the time: {number(str(n_kept))} of "
        f"{FEATURES} share {DIMENSIONS} dimensions."
    )
    under = (
        f"A feature leaks into another by up to {float(shared.max()):.2f} of its own size; a bias "
        "below 0 and ReLU cut that off. A toy: it has nothing to do with your sentence."
    )
    head = Head(sentence, "superposition", run.card.colour, under=under)
    alt = "The direction of each feature in the plane of the two dimensions."
    return chart_cell(head, arrows(weight, f"@{run.card.colour}"), alt, height=500)


def arrows(weight: Array, colour: str) -> Figure:
    """The columns of W from the origin; those that are not kept are grey."""
    are_kept = kept(weight)
    reach = 1.25 * max(1.0, float(np.abs(weight).max()))
    traces = []
    for at, (x, y) in enumerate(weight.T):
        traces.append(
            line_trace(
                f"feature {at + 1}",
                np.array([0, x]),
                np.array([0, y]),
                colour if are_kept[at] else "@muted",
                4 if are_kept[at] else 2,
                showlegend=False,
                hovertemplate=f"feature {at + 1}: (%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
            )
        )
    ends = {"size": 28, "color": [colour if each else "@muted" for each in are_kept]}
    looks: Options = {"textfont": {"size": 16, "color": "@background"}, "hoverinfo": "skip"}
    looks |= {"text": [f"<b>{at + 1}</b>" for at in range(FEATURES)], "mode": "markers+text"}
    return figure(
        [*traces, dots("features", weight[0], weight[1], ends, showlegend=False, **looks)],
        bare_axis("first dimension", range=[-reach, reach], constrain="domain"),
        bare_axis("second dimension", range=[-reach, reach], scaleanchor="x", constrain="domain"),
        margin={"l": 60, "r": 12, "t": 12, "b": 52},
    )


def the_counts(run: Run, packed: Packed, place: int) -> Cell:
    """How many features are kept at each rarity."""
    counts = np.array([kept(weight).sum() for weight in packed])
    sentence = (
        f"If always active, {counts[0]} fit; if active {PERCENT[-1]}% of the time, "
        f"{number(str(counts[-1]))}: more features than dimensions."
    )
    under = (
        "So one neuron seldom means one thing: where features are rare, it pays to give a "
        "direction to each, and every dimension then takes part in several."
    )
    colour, x = f"@{run.card.colour}", np.array(PERCENT)
    return chart_cell(
        Head(sentence, "superposition-counts", run.card.colour, under=under),
        figure(
            [line_trace("features kept", x, counts, colour, 3, dots=9, showlegend=False,
                        hovertemplate="active %{x}%: %{y} kept<extra></extra>"),
             ring("shown", x[[place]], counts[[place]], colour, 16)],
            axis("% of the time that a feature is active", type="log", autorange="reversed",
                 tickvals=list(PERCENT), ticktext=[str(each) for each in PERCENT]),
            axis("features kept", range=[0, FEATURES + 0.5], dtick=1),
            margin={"l": 60, "r": 12, "t": 12, "b": 52},
        ),
        "How many features are kept, against how often each is active.",
        height=500,
    )  # fmt: skip
