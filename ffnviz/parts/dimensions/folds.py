"""Fold twice: a line folded k times, one layer's units, and the pieces of the network.

f(x) = 2 ReLU(x) − 4 ReLU(x − ½), k times, has 2ᵏ pieces on [0, 1] from 2k units; one hidden layer
of n units has at most n + 1 (Telgarsky 2016, arXiv:1602.04485).
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, missing
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.dimensions.warp import chosen_corners
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Trace
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import counted, number, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_slider

NEEDS = (Capability.PRE_NORM,)
PLACES = 1_025  # points on the line


def folded(x: Array, k: int) -> Array:
    """f applied k times to each x, (n,)."""
    for _ in range(k):
        x = 2 * np.maximum(x, 0) - 4 * np.maximum(x - 0.5, 0)
    return x


def one_layer(k: int, n: int) -> tuple[Array, Array]:
    """Bends and changes of slope of n units that follow k folds from 0 on, (n,) each."""
    unit = np.arange(n)
    slope_changes = np.where(unit % 2 == 1, -2.0, 2.0) * 2.0**k
    slope_changes[:1] = 2.0**k
    return unit / 2.0**k, slope_changes


def layer_at(x: Array, bends: Array, slope_changes: Array) -> Array:
    """Σ slope_change · ReLU(x − bend) at each x, (n,)."""
    return np.maximum(x[:, None] - bends, 0) @ slope_changes


@torch.no_grad()
def switches(
    model: Network, trace: ForwardPass, block: int, ends: tuple[int, int], n: int = PLACES
) -> list[NDArray[np.int64]]:
    """Neurons that have switched at n points between two tokens: of a block, and of two."""
    share = torch.linspace(0, 1, n, device=trace.embedding.device)[:, None]

    def line(rows: Tensor) -> Tensor:
        return torch.lerp(rows[ends[0]], rows[ends[1]], share)

    stream = line(trace.blocks[block].middle)
    counts: list[NDArray[np.int64]] = [np.zeros(n, dtype=np.int64)]
    for index in range(block, len(trace.blocks))[:2]:
        if index > block:  # what attention adds is interpolated too
            stream = stream + line(trace.blocks[index].middle - trace.blocks[block].output)
        view = model.ffn(index)
        record = view.stages(view.reads(stream))
        above_zero = record.pre_activation > 0  # (n, d_ff)
        switched = (above_zero[1:] != above_zero[:-1]).sum(dim=-1).cpu().numpy()
        counts.append(counts[-1] + np.concatenate([[0], switched.cumsum()]))
        stream = stream + record.output
    return counts[1:]


def _line(name: str, x: Any, y: Array, colour: str, width: int, form: str = ".3g") -> Trace:
    hover = f"%{{x:{form}}}: %{{y:{form}}}<extra>%{{fullData.name}}</extra>"
    return plot.line_trace(name, x, y, colour, width, hovertemplate=hover)


MOST = 8
FOLDS = count_slider("folds", 3, range(1, MOST + 1), "folds k")
STOPS = (*range(1, 17), 20, 24, 32, 48, 63, 64, 96, 128, 192, 2**MOST)
UNITS = count_slider("fold_units", 6, STOPS, "neurons n of one layer")
SETTINGS = (FOLDS, UNITS)
X = np.linspace(0, 1, 2**10 + 1)  # every corner of eight folds is one of these
POWERS = [2**k for k in range(MOST + 1)]


def sheet(run: Run, values: Values) -> Sheet:
    """The zigzag, beside how pieces grow with units and the network's own pieces."""
    k, n = values[FOLDS], values[UNITS]
    return Sheet([row(the_zigzag(run, k, n), [the_growth(run, k, n), in_the_network(run, values)])])


def the_zigzag(run: Run, k: int, n: int) -> Cell:
    """A line folded k times, and what one layer draws of it, whose n units are marked."""
    bends, turns = one_layer(k, n)
    inside = bends < 1
    bends, turns, colour = bends[inside], turns[inside], f"@{run.card.colour}"
    pieces, right = 2**k, min(n, 2**k)
    share = "all of them" if right == pieces else f"{right:,}, and needs {pieces:,} neurons for all"
    folds = "1 fold of 2 ReLU neurons makes" if k == 1 else f"{k} folds of 2 ReLU neurons each make"
    sentence = (
        f"{folds} {number(f'{pieces:,} pieces')}; one layer of {counted(n, 'neuron')} matches "
        f"{share}."
    )
    layer = layer_at(X, bends, turns)
    layer = np.where(np.abs(layer - 0.5) <= 0.75, layer, np.nan)
    feet = {"color": colour, "symbol": "triangle-up", "size": 10}
    figure = plot.figure(
        [
            _line("folded", X, folded(X, k), "@muted", 6, ".3f"),
            _line("one layer", X, layer, colour, 3, ".3f"),
            plot.dots("its neurons", bends, np.full(len(bends), -0.15), feet, hoverinfo="none"),
        ],
        plot.axis("x", range=[-0.02, 1.02], zeroline=False),
        plot.axis("y", range=[-0.25, 1.28], zeroline=False),
    )
    alt = (
        "A line folded several times, and one layer of ReLU neurons that follows it corner by "
        "corner."
    )
    return chart_cell(Head(sentence, "folds", run.card.colour), figure, alt, height=640)


def the_growth(run: Run, k: int, n: int) -> Cell:
    """The number of pieces against the number of units, both logarithmic."""
    sentence = (
        f"{2 * k} neurons fold the line into {2**k:,} pieces; in one layer they make at most "
        f"{number(f'{2 * k + 1}')}."
    )
    even, powers, colour = np.arange(2, 17, 2), np.array(POWERS, float), f"@{run.card.colour}"
    units, pieces = np.array([2 * k, n]), np.array([2**k, n + 1])  # folded, and of one layer
    figure = plot.figure(
        [
            _line("folded", even, 2.0 ** (even / 2), "@muted", 6),
            _line("one layer, at most", powers, powers + 1, colour, 3),
            plot.ring("here", units, pieces, ["@muted", colour]),
        ],
        plot.log_axis("neurons", POWERS),
        plot.log_axis("pieces", POWERS),
    )
    alt = "How the number of pieces grows with the number of neurons, folded and in one layer."
    return chart_cell(Head(sentence, "folds-pieces", run.card.colour), figure, alt, height=300)


def in_the_network(run: Run, values: Values) -> Cell:
    """Neurons that switch on the way from one token to another, in one block and in two."""
    lacking = missing(run.card, NEEDS)
    if lacking:
        return text_cell("folds-network", lacking[0].value, tone="quiet")
    ends = chosen_corners(run, values)[:2]
    if len(ends) < 2:
        return text_cell("folds-network", "A line needs at least two tokens.", tone="quiet")
    block = max(0, min(run.state.block, len(run.trace.blocks) - 2))
    counts = run.subject.per_sentence(
        ("switches", block, ends), lambda: switches(run.model, run.trace, block, (ends[0], ends[1]))
    )
    from_, to = (run.labels[end] for end in ends)
    sentence = f"On a line from {quoted(from_)} to {quoted(to)} block {block + 1}'s FFN "
    way = np.linspace(0, 100, PLACES)
    lines = [_line(f"FFN of block {block + 1}", way, 1.0 + counts[0], "@muted", 3)]
    first, *more = (counted(1 + int(each[-1]), "piece") for each in counts)
    if more:
        name = f"of blocks {block + 1} and {block + 2}"
        lines.append(_line(name, way, 1.0 + counts[1], f"@{run.card.colour}", 3))
        sentence += f"alone makes {first}; together with the next block's it makes {number(*more)}."
    else:
        sentence += f"makes {number(first)}."
    if not run.card.phi.exact_zeros:
        smooth = "so each piece bends smoothly into the next."
        sentence += f" {run.card.phi.label} has no corners, {smooth}"
    ticks = [plot.escaped(from_), "half-way", plot.escaped(to)]
    figure = plot.figure(
        lines,
        plot.axis("", tickvals=[0, 50, 100], ticktext=ticks),
        plot.axis("pieces so far", rangemode="tozero"),
        margin={"l": 76, "r": 44, "t": 36, "b": 44},
    )
    alt = "How many neurons have switched between one token and another."
    return chart_cell(Head(sentence, "folds-network", run.card.colour), figure, alt, height=300)
