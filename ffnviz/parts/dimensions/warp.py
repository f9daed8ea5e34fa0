"""A plane through three tokens, sheared by W₁ and W₂, and folded or bent by φ."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.dimensions.warp import Stage, Warp, warp
from ffnviz.figures.dimensions.warp import Panel, warped
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.parts.sheet import Choice, Control, Sheet, row
from ffnviz.parts.token_choice import token_choice, token_setting
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting, number_setting

MANY = 60  # more lines than these would cover the plane
NEURONS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384)
OTHERS = ("identity", "relu", "gelu", "tanh", "sigmoid")
PHI = choice_setting(
    "warp_phi", {"own": "the network's", **{name: ACTIVATIONS[name].label for name in OTHERS}}
).with_control("φ")
SHARE = number_setting("warp", 1.0, 0.0, 1.0).with_control(
    "share of φ that is applied", [stop / 20 for stop in range(21)], "{:.0%}".format
)
N_NEURONS = count_setting("warp_neurons", 8, NEURONS[0], NEURONS[-1]).with_control(
    "neurons taking part, those that vary most first", NEURONS, "{:,}".format
)
SECOND, THIRD = token_setting("warp_second"), token_setting("warp_third")
SETTINGS = (PHI, SHARE, N_NEURONS, SECOND, THIRD)


def sheet(run: Run, values: Values) -> Sheet:
    """The plane before the FFN, after φ and after W₂."""
    block, corners = run.state.block, chosen_corners(run, values)
    phi = run.card.phi if values[PHI] == "own" else ACTIVATIONS[values[PHI]]
    n_neurons = min(values[N_NEURONS], run.model.sizes.d_ff)
    inputs = run.trace.blocks[block].ffn.input[list(corners)]
    plane = run.subject.per_sentence(
        ("warp", block, corners, phi.name, n_neurons),
        lambda: warp(run.model, block, inputs, phi, n_neurons),
    )
    cells = [the_stages(run, plane, phi, corners, values[SHARE], n_neurons)]
    if len(corners) < 3:
        few = "The sentence has fewer than three tokens: the missing corners are drawn at random."
        cells.append(text_cell("few-tokens", few))
    return Sheet([row(cells)], the_controls(run, corners, n_neurons))


def chosen_corners(run: Run, values: Values) -> tuple[int, ...]:
    """The chosen token and two others, by default each the furthest from those before it.

    They are fewer than three where the sentence is shorter.
    """
    inputs = run.trace.blocks[run.state.block].ffn.input
    corners = [run.token]
    for setting in (SECOND, THIRD):
        left = [place for place in range(len(inputs)) if place not in corners]
        if not left:
            break
        wanted = values[setting] - 1
        apart = (inputs[left][:, None] - inputs[corners]).norm(dim=-1).min(dim=1).values
        corners.append(wanted if wanted in left else left[int(apart.argmax())])
    return tuple(corners)


def the_controls(run: Run, corners: tuple[int, ...], n_neurons: int) -> list[Control]:
    """The controls: φ, the two other tokens, how much of φ is applied, and how many neurons."""
    d_ff = run.model.sizes.d_ff

    def corner(label: str, setting: Setting[int], at: int) -> Choice:
        left = [place for place in range(len(run.labels)) if place not in corners[:at]]
        return token_choice(label, setting, run.labels, left, corners[at])

    others = (("Second token", SECOND), ("Third token", THIRD))[: len(corners) - 1]
    return [
        replace(PHI, options={**PHI.options, "own": f"the network's: {run.card.phi.label}"}),
        *(corner(label, setting, at) for at, (label, setting) in enumerate(others, 1)),
        SHARE,
        replace(N_NEURONS, stops=sorted({min(stop, d_ff) for stop in (*NEURONS, n_neurons)})),
    ]


def the_stages(
    run: Run, plane: Warp, phi: Activation, corners: tuple[int, ...], share: float, n_neurons: int
) -> Cell:
    """Three panels, one per stage."""
    flat = share == 0 or phi.name == "identity"
    panels = [
        Panel("before the FFN: a plane", plane.plane, plane.tokens, ("axis 1", "axis 2")),
        _panel(f"after W₁ and φ: {n_neurons:,}-D", plane.hidden, share),
        _panel(f"after W₂: {run.model.sizes.d_model:,}-D", plane.output, share),
    ]
    labels = [*(run.labels[place] for place in corners), "random", "random"][:3]
    few = len(plane.lines) <= MANY and not flat
    return chart_cell(
        Head(_sentence(plane, phi, flat, n_neurons), "warp", run.card.colour),
        warped(panels, np.zeros_like(plane.awake) if flat else plane.awake, labels,
               _segments(plane) if few else np.zeros((0, 4)), run.card.colour),
        "A square grid in the plane of three tokens, before the FFN, after φ, and after W₂.",
        height=560,
    )  # fmt: skip


def _panel(title: str, stage: Stage, share: float) -> Panel:
    points, tokens = stage.at(share)
    first, second = (f"axis {k + 1}: {percent(float(stage.explained[k]))} of the variance"
                     for k in (0, 1))  # fmt: skip
    return Panel(title, points, tokens, (first, second))


def _segments(plane: Warp) -> NDArray[np.float64]:
    """The fold lines, from border to border of the square, (n, 4)."""
    normal, offset = plane.lines[:, :2], plane.lines[:, 2]
    low, high = plane.corners
    foot = -(offset / (normal**2).sum(axis=1))[:, None] * normal
    along = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    along = np.where(along == 0, 1e-300, along)
    ends = np.sort(np.stack([(low - foot) / along, (high - foot) / along]), axis=0)
    first, last = ends[0].max(axis=1)[:, None], ends[1].min(axis=1)[:, None]
    return np.concatenate([foot + first * along, foot + last * along], axis=1)


def _sentence(plane: Warp, phi: Activation, flat: bool, n_neurons: int) -> Sentence:
    phi_of_n = f"{phi.label} with {n_neurons:,} neurons"
    if flat:
        return ["Without φ the plane stays ", number("1 flat piece"),
                ": W₁ and W₂ turn and stretch it; what was straight stays straight."]  # fmt: skip
    lines, n_pieces = _counted(len(plane.lines), "straight line"), plane.n_pieces
    if phi.exact_zeros:
        return [f"{phi_of_n} folds this plane along {lines} into ",
                number(_counted(n_pieces, "flat piece")), "."]  # fmt: skip
    return [f"{phi_of_n} bends this plane, most of all near ", number(lines),
            "; no piece of it stays flat."]  # fmt: skip


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
