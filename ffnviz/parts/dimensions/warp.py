"""A plane through three tokens, sheared by W₁ and W₂, and folded or bent by φ.

W₁ keeps a plane flat; φ bends it along the line on which each neuron's pre-activation is zero. With
ReLU the FFN is linear on each piece between these lines (Montúfar et al. 2014).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.neurons.memory import row_norms
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.network import Network
from ffnviz.models.views import FfnView
from ffnviz.parts.sheet import Choice, Control, Sheet, row, token_choice, token_setting
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, Trace
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import Sentence, counted, number, percent
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, count_slider, number_slider

NEEDS = (Capability.PLAIN_FFN,)
CELLS = 36  # along each edge of the square
COARSE = 3  # the axes follow from every third point
MARGIN = 1.5  # edge of the square relative to the extent of the three tokens
SEED = 5


@dataclass(frozen=True)
class Stage:
    """The square at one stage, projected onto two axes."""

    flat: Array  # its points without φ, (CELLS + 1, CELLS + 1, 2)
    bent: Array  # its points with φ, on the same axes
    # flat_tokens, bent_tokens: the three tokens likewise, (3, 2)
    flat_tokens: Array
    bent_tokens: Array
    explained: Array  # share of the bent points' variance along each axis, (2,)

    def at(self, share: float) -> tuple[Array, Array]:
        """The points and tokens with (1 − share) z + share φ(z) in place of φ(z)."""
        return (
            (1 - share) * self.flat + share * self.bent,
            (1 - share) * self.flat_tokens + share * self.bent_tokens,
        )


@dataclass(frozen=True)
class Warp:
    """The square before the FFN, in the plane's coordinates, and at two stages of it."""

    corners: Array  # the lower left and the upper right, (2, 2)
    plane: Array  # its points, (CELLS + 1, CELLS + 1, 2)
    tokens: Array  # the three tokens, (3, 2)
    hidden: Stage  # after W₁ and φ
    output: Stage  # after W₂
    # neurons with a pre-activation above zero at each cell's centre, (CELLS, CELLS)
    awake: NDArray[np.int64]
    lines: Array  # where a neuron's pre-activation is zero in the square: a s + b t + c = 0, (n, 3)
    n_pieces: int  # the pieces into which these lines cut the square


@torch.no_grad()
def warp(model: Network, block: int, inputs: Tensor, phi: Activation, n_neurons: int) -> Warp:
    """Carry a square of the plane through the neurons whose terms vary most over it.

    The plane goes through one to three FFN inputs, (n, d_model); missing directions are random.
    """
    require(model, NEEDS)
    ffn = model.ffn(block)
    origin, axes, tokens = _plane(inputs.cpu().double())
    low, high = tokens.min(dim=0).values, tokens.max(dim=0).values
    half, middle = MARGIN * (high - low).max() / 2, (low + high) / 2
    corners = torch.stack([middle - half, middle + half])
    side = torch.linspace(-1, 1, CELLS + 1, dtype=torch.float64) * half
    square = torch.meshgrid(middle[0] + side, middle[1] + side, indexing="xy")
    plane = torch.stack(square, dim=-1)  # (rows, columns, 2)
    coarse = plane[::COARSE, ::COARSE].flatten(0, 1)
    # In float32: in float64 the weights of all neurons would be 16 MB.
    slopes, start = _reads(ffn, origin.float(), axes.float())
    spread = phi.function(coarse.float() @ slopes + start).std(dim=0) * row_norms(ffn.values).cpu()
    chosen = spread.topk(min(n_neurons, len(spread))).indices
    slopes, start = _reads(ffn, origin, axes, chosen)
    bent = phi.function(coarse @ slopes + start)  # (n, n_neurons)
    within = ffn.values[chosen].cpu().double().mT
    if within.shape[1] < within.shape[0]:  # few neurons write few directions: the axes are there
        within = torch.linalg.qr(within).R

    def stage(projection: Tensor, explained: Array) -> Stage:
        """The square and the tokens by the neurons' terms on two axes, (n_neurons, 2)."""
        pre_activations = [points @ slopes + start for points in (plane, tokens)]
        flat, flat_tokens = ((z @ projection).numpy() for z in pre_activations)
        curved, curved_tokens = ((phi.function(z) @ projection).numpy() for z in pre_activations)
        return Stage(flat, curved, flat_tokens, curved_tokens, explained)

    hidden_axes, hidden_explained = _principal(bent, coarse)
    output_axes, output_explained = _principal(bent @ within.mT, coarse)
    centres = (plane[:-1, :-1] + plane[1:, 1:]) / 2
    lines = _crossing(torch.cat([slopes, start[None]]).mT, corners).numpy()
    return Warp(
        corners.numpy(),
        plane.numpy(),
        tokens.numpy(),
        stage(hidden_axes, hidden_explained),
        stage(within.mT @ output_axes, output_explained),
        (centres @ slopes + start > 0).sum(dim=-1).numpy(),
        lines,
        pieces(lines, corners.numpy()),
    )


def _reads(
    ffn: FfnView, origin: Tensor, axes: Tensor, chosen: Tensor | slice = slice(None)
) -> tuple[Tensor, Tensor]:
    """Pre-activations on a plane: (d_model,), (2, d_model) -> slopes (2, n), offsets (n,)."""
    keys = ffn.keys[chosen].cpu().to(origin)
    bias = None if ffn.key_bias is None else ffn.key_bias[chosen].cpu().to(origin)
    return axes @ keys.mT, F.linear(origin, keys, bias)


def _plane(inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The first input, two orthonormal axes, (2, d_model), and three points on them, (3, 2)."""
    generator, origin = torch.Generator().manual_seed(SEED), inputs[0]
    length = origin.norm().clamp_min(1e-6)
    random = torch.randn(3, len(origin), generator=generator, dtype=torch.float64)
    axes, basis = torch.zeros(0, len(origin), dtype=torch.float64), [origin]
    for other in (*inputs[1:3], *(origin + length * F.normalize(random, dim=-1))):
        step = other - origin
        rest = step - step @ axes.mT @ axes
        if len(axes) < 2 and rest.norm() > 1e-6 * length:
            axes = torch.cat([axes, rest[None] / rest.norm()])
            basis.append(other)
    return origin, axes, (torch.stack(basis) - origin) @ axes.mT


def _principal(points: Tensor, places: Tensor) -> tuple[Tensor, Array]:
    """Two principal axes, (n, d) -> (d, 2), along the plane's own, and their shares of variance."""
    centred = points - points.mean(dim=0)
    _, singular, right = torch.linalg.svd(centred, full_matrices=False)
    shares = singular.square() / singular.square().sum().clamp_min(1e-30)
    basis, explained = torch.zeros(2, points.shape[1], dtype=torch.float64), np.zeros(2)
    basis[: len(right[:2])], explained[: len(shares[:2])] = right[:2], shares[:2].numpy()
    along = ((centred @ basis.mT) * (places - places.mean(dim=0))).sum(dim=0)
    return basis.mT * torch.where(along < 0, -1, 1), explained


def _crossing(lines: Tensor, corners: Tensor) -> Tensor:
    """The lines, (n, 3), that cross the square."""
    x, y = corners.mT
    four = torch.cat([torch.cartesian_prod(x, y), torch.ones(4, 1, dtype=torch.float64)], dim=1)
    signed = lines @ four.mT  # (n, 4)
    return lines[(signed.min(dim=1).values < 0) & (signed.max(dim=1).values > 0)]


def pieces(lines: Array, corners: Array) -> int:
    """How many pieces lines a s + b t + c = 0, (n, 3), cut a square into: 1 + lines + crossings.

    Each line crosses the square, and no three meet. `corners` are its lower left and upper right.
    """
    n_crossings = 0
    for place in range(len(lines) - 1):
        (a, b, c), (u, v, w) = lines[place], lines[place + 1 :].T
        determinant = a * v - u * b
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = np.stack([b * w - v * c, c * u - w * a], axis=1) / determinant[:, None]
        inside = (crossings > corners[0]) & (crossings < corners[1])
        n_crossings += int(inside.all(axis=1).sum())
    return 1 + len(lines) + n_crossings


GAP = 0.07
EVERY = 3  # cells between two lines of the grid
TINTS = 8


@dataclass(frozen=True)
class Panel:
    """One stage."""

    title: str  # said above it
    points: Array  # the grid's, row by row, (n + 1, n + 1, 2)
    tokens: Array  # the three corners, (3, 2)
    names: tuple[str, str]  # of its axes


def warped(
    panels: Sequence[Panel],
    awake: NDArray[np.integer],  # how many in each cell, (n, n)
    labels: Sequence[str],  # of the three tokens, as typed
    lines: Array,  # from x, y to x, y in the first panel, (k, 4)
    twin: str,
) -> Figure:
    """Panels side by side; the more neurons are awake in a cell, the darker it is."""
    width = (1 - GAP * (len(panels) - 1)) / len(panels)
    # A tint for each number of neurons; of many numbers, one for each eighth of their range.
    least, most = int(awake.min()), int(awake.max())
    tints = (awake - least) // max(1, -(-(most - least + 1) // TINTS))
    names = [plot.escaped(plot.shortened(label)) for label in labels]
    corner = {"size": [15, 11, 11], "color": "@text"}
    words: plot.Options = {"mode": "markers+text", "text": names, "textposition": "top center"}
    words |= {"textfont": {"size": 17}, "hovertemplate": "%{text}<extra></extra>"}
    traces: list[Trace] = []
    axes, titles = {}, []
    for place, panel in enumerate(panels):
        number, left = place + 1, place * (width + GAP)
        on = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        traces += _cells(panel.points, tints, twin, on)
        if place == 0 and len(lines):
            traces.append(_broken("lines", lines.reshape(-1, 2, 2), "@text", 1.2, on))
        both = [panel.points[::EVERY], panel.points.swapaxes(0, 1)[::EVERY]]
        traces.append(_broken("grid", np.concatenate(both), f"@{twin}", 1.5, on))
        x, y = panel.tokens.T
        traces.append(plot.dots(panel.title, x, y, corner, **words, **on))
        x, y = (_range(panel.points[..., k], panel.tokens[:, k]) for k in (0, 1))
        across, up = panel.names
        axes[f"xaxis{number}"] = plot.bare_axis(
            across, anchor=f"y{number}", range=x, domain=[left, left + width], nticks=5
        )
        axes[f"yaxis{number}"] = plot.bare_axis(up, anchor=f"x{number}", range=y, nticks=6)
        axes[f"yaxis{number}"]["title"]["standoff"] = 4
        titles.append(plot.panel_title(panel.title, left))
    return plot.figure(
        traces,
        axes.pop("xaxis1"),
        axes.pop("yaxis1"),
        **axes,
        annotations=titles,
        showlegend=False,
        meta={"panels": len(panels)},
        margin={"l": 64, "r": 10, "t": 40, "b": 54},
    )


def _cells(points: Array, tints: NDArray[np.integer], twin: str, on: dict[str, str]) -> list[Trace]:
    """One trace a tint, with all its cells as closed lines."""
    around = [points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1], points[:-1, :-1]]
    outlines = np.stack(around, axis=2)  # (n, n, 5, 2)
    traces = []
    for tint in np.unique(tints):
        colour = f"@{twin}/{0.07 + 0.09 * tint:.2f}"
        # Outlines would be a path of SVG for each cell, which nobody sees.
        filled = {"mode": "none", "fill": "toself", "fillcolor": colour}
        traces.append(_broken("cells", outlines[tints == tint], colour, 0, on) | filled)
    return traces


def _broken(name: str, lines: Array, colour: str, width: float, on: dict[str, str]) -> Trace:
    """Lines, (k, n, 2), as one trace with gaps."""
    path = np.concatenate([lines, np.full((len(lines), 1, 2), np.nan)], axis=1).reshape(-1, 2)
    x, y, line = path[:, 0], path[:, 1], {"color": colour, "width": width}
    quiet = {"hoverinfo": "skip", "line": line, "meta": {"decoration": name != "grid"}}
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, **quiet, **on}


def _range(values: Array, more: Array) -> list[float]:
    low, high = float(min(values.min(), more.min())), float(max(values.max(), more.max()))
    room = 0.07 * (high - low) + 1e-9
    return [low - room, high + 1.6 * room]


MANY = 60  # more lines than these would cover the plane
NEURONS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384)
OTHERS = ("identity", "relu", "gelu", "tanh", "sigmoid")
PHI = choice_setting(
    "warp_phi", {"own": "the network's", **{name: ACTIVATIONS[name].label for name in OTHERS}}
).with_control("φ")
SHARES = [stop / 20 for stop in range(21)]
SHARE = number_slider("warp", 1.0, SHARES, "share of φ that is applied", "{:.0%}")
TAKING_PART = "neurons taking part, those that vary most first"
N_NEURONS = count_slider("warp_neurons", 8, NEURONS, TAKING_PART, "{:,}")
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
        few = "The sentence has fewer than three tokens: the missing points are drawn at random."
        cells.append(text_cell("few-tokens", few))
    stops = {min(stop, run.model.sizes.d_ff) for stop in (*NEURONS, n_neurons)}
    controls: list[Control] = [
        replace(PHI, options={**PHI.options, "own": f"the network's: {run.card.phi.label}"}),
        *corner_choices(run, corners),
        SHARE,
        replace(N_NEURONS, stops=sorted(stops)),
    ]
    return Sheet([row(cells)], controls)


def chosen_corners(run: Run, values: Values) -> tuple[int, ...]:
    """The chosen token and two others, by default each the furthest from those before it."""
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


def corner_choices(run: Run, corners: tuple[int, ...]) -> Iterator[Choice]:
    """The controls for the other tokens, each of which offers what those before it leave."""
    others = (("Second token", SECOND), ("Third token", THIRD))[: len(corners) - 1]
    for at, (label, setting) in enumerate(others, 1):
        left = [place for place in range(len(run.labels)) if place not in corners[:at]]
        yield token_choice(label, setting, run.labels, left, corners[at])


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
    folds = _segments(plane) if few else np.zeros((0, 4))
    awake = np.zeros_like(plane.awake) if flat else plane.awake
    head = Head(_sentence(plane, phi, flat, n_neurons), "warp", run.card.colour)
    figure = warped(panels, awake, labels, folds, run.card.colour)
    alt = "A square grid in the plane of three tokens, before the FFN, after φ, and after W₂."
    return chart_cell(head, figure, alt, height=560)


def _panel(title: str, stage: Stage, share: float) -> Panel:
    points, tokens = stage.at(share)
    first, second = (
        f"axis {k + 1}: {percent(float(stage.explained[k]))} of the variance" for k in (0, 1)
    )
    return Panel(title, points, tokens, (first, second))


def _segments(plane: Warp) -> Array:
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
    phi_of_n = f"{phi.label} with {counted(n_neurons, 'neuron')}"
    if flat:
        return (
            f"Without φ the plane stays {number('1 flat piece')}: W₁ and W₂ turn and stretch it; "
            "what was straight stays straight."
        )
    lines, n_pieces = counted(len(plane.lines), "straight line"), plane.n_pieces
    if not len(plane.lines):
        if phi.exact_zeros:
            return f"{phi_of_n} does not fold this plane: it stays {number('1 flat piece')}."
        return f"{phi_of_n} bends this plane; {number('no piece')} of it stays flat."
    if phi.exact_zeros:
        flat_ones = number(counted(n_pieces, "flat piece"))
        return f"{phi_of_n} folds this plane along {lines} into {flat_ones}."
    return (
        f"{phi_of_n} bends this plane, most of all near {number(lines)}; no piece of it stays flat."
    )
