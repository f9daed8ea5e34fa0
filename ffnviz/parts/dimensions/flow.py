"""The shapes that flow through an FFN, beside the code that does it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.number_format import short
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure, Trace, escaped, shortened
from ffnviz.pictures.text import code_cell, table_cell, text_cell
from ffnviz.pictures.wording import counted, number, strong
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

NEEDS = (Capability.PLAIN_FFN,)


@dataclass(frozen=True)
class PositionWise:
    """The largest differences between ways of applying one FFN to T tokens."""

    alone: float  # each token on its own, against all together
    batch: float  # the sentence twice as a batch, (2, T, d_model), against one sentence
    flattened: float  # that batch as 2·T rows, (2·T, d_model), against the batch
    n_parameters: int


@torch.no_grad()
def against_sequential(model: Network, trace: ForwardPass, block: int) -> float:
    """The largest difference to nn.Sequential(Linear, φ, Linear) with the same weights."""
    record = trace.blocks[block].ffn
    return float((_sequential(model, block)(record.input) - record.output).abs().max())


@torch.no_grad()
def position_wise(model: Network, trace: ForwardPass, block: int) -> PositionWise:
    """Apply one block's plain FFN to its input on this sentence in three ways."""
    x, together = trace.blocks[block].ffn.input, trace.blocks[block].ffn.output  # (T, d_model)
    sequential = _sequential(model, block)
    alone = torch.cat([sequential(row[None]) for row in x])
    pair = torch.stack([x, x])  # (B, T, d_model)
    batch = sequential(pair)
    flattened = sequential(pair.flatten(0, 1)).unflatten(0, pair.shape[:2])
    return PositionWise(
        float((alone - together).abs().max()),
        float((batch - together).abs().max()),
        float((flattened - batch).abs().max()),
        sum(parameter.numel() for parameter in sequential.parameters()),
    )


def _sequential(model: Network, block: int) -> nn.Sequential:
    require(model, NEEDS)
    ffn = model.ffn(block)
    first, second = _linear(ffn.keys, ffn.key_bias), _linear(ffn.values.mT, ffn.output_bias)
    return nn.Sequential(first, _Activation(ffn.phi.function), second)


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, device="meta")
    linear.weight = nn.Parameter(weight, requires_grad=False)
    if bias is not None:
        linear.bias = nn.Parameter(bias, requires_grad=False)
    return linear


class _Activation(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


GAP = 2.0  # between the middles of two boxes
SHOWN = 8


def flow(n_tokens: int, d_model: int, d_ff: int, label: str, twin: str) -> Figure:
    """(T, d_model) → (T, d_ff) → φ → (T, d_ff) → (T, d_model), heights true to scale."""
    heights = [d_model, d_ff, d_ff, d_model]
    names = ["x", "x W₁ + b₁", f"{label}(x W₁ + b₁)", "output"]
    # Narrow enough to stand between the boxes of a telephone.
    first, second = f"W₁<br>({d_model:,},<br>{d_ff:,})", f"W₂<br>({d_ff:,},<br>{d_model:,})"
    places = np.arange(4) * GAP
    shapes = []
    for place, (left, right) in enumerate(pairwise(heights)):
        x0, x1 = places[place] + 0.35, places[place + 1] - 0.35
        corners = [(x0, left / 2), (x1, right / 2), (x1, -right / 2), (x0, -left / 2)]
        path = "M" + " L".join(f"{x:g},{y:g}" for x, y in corners) + " Z"
        shapes.append({"type": "path", "path": path, **_filled(f"@{twin}/0.16")})
    for place, height in zip(places, heights, strict=True):
        shapes.append(_box(place - 0.35, place + 0.35, -height / 2, height / 2, f"@{twin}/0.75"))
    tallest = max(heights)
    ends = np.array(heights) / 2 + 0.05 * tallest
    shown = [f"<b>({n_tokens:,}, {height:,})</b>" for height in heights]
    return {
        "data": [
            _words("shape", places, ends, shown, 22),
            _words("value", places, -ends, names, 17),
            _words(
                "step",
                places[:-1] + GAP / 2,
                np.zeros(3),
                [first, "φ<br>one<br>by one", second],
                18,
            ),
        ],
        "layout": _bare(shapes, [-0.75, 3 * GAP + 0.75], [-0.62 * tallest, 0.62 * tallest]),
    }


def shared_weights(labels: Sequence[str], d_model: int, d_ff: int, n: int, twin: str) -> Figure:
    """Each token, its label already escaped, on its own line through the same n parameters."""
    shown = [shortened(label) for label in labels[:SHOWN]]
    rows = np.arange(len(shown), dtype=float)
    bottom = len(shown) - 0.4
    shapes = [_box(1.6, 4.4, -0.6, bottom, f"@{twin}/0.22")]
    for at in rows:
        for x0, x1 in ((0.35, 1.05), (1.9, 4.1), (4.95, 5.65)):  # input, hidden, output
            shapes.append(_box(x0, x1, at - 0.2, at + 0.2, f"@{twin}/0.75"))
    left = len(labels) - SHOWN
    more = [f"… and {left:,} token{'s' if left > 1 else ''} more"] if left > 0 else []
    return {
        "data": [
            _words("token", np.full(len(shown), 0.25), rows, shown, 18,
                   textposition="middle left"),
            _words("shapes", np.array([0.7, 3.0, 5.3]), np.full(3, -0.95),
                   [f"({d_model:,})", f"one W₁, b₁, W₂, b₂:<br>{n:,} parameters · ({d_ff:,})",
                    f"({d_model:,})"], 17),
            _words("arrows", np.repeat([1.33, 4.67], len(shown)), np.tile(rows, 2),
                   ["→"] * (2 * len(shown)), 20),
            _words("more", np.full(len(more), 3.0), np.full(len(more), bottom + 0.25), more),
        ],
        "layout": _bare(shapes, [-0.9, 5.8], [bottom + 0.5, -1.5]),
    }  # fmt: skip


def _words(
    name: str, x: Any, y: Any, text: Sequence[str], size: int | None = None, **more: Any
) -> Trace:
    written = {"type": "scatter", "mode": "text", "hoverinfo": "skip"}
    font = {"textfont": {"size": size}} if size else {}
    return {**written, "name": name, "x": x, "y": y, "text": text, **font, **more}


def _box(x0: float, x1: float, y0: float, y1: float, colour: str) -> dict[str, Any]:
    corners = {"x0": float(x0), "x1": float(x1), "y0": float(y0), "y1": float(y1)}
    return {"type": "rect", **corners, **_filled(colour)}


def _filled(colour: str) -> dict[str, Any]:
    return {"fillcolor": colour, "line": {"width": 0}, "layer": "below"}


def _bare(shapes: list[dict[str, Any]], x: list[float], y: list[float]) -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": True}
    return {
        "xaxis": {**hidden, "range": x},
        "yaxis": {**hidden, "range": y},
        "shapes": shapes,
        "showlegend": False,
        "dragmode": False,
        "margin": {"l": 4, "r": 4, "t": 8, "b": 8},
    }


CODE_OF_SHAPES = """\
# (B, T, d_model) = (2, {n}, {d_model})
x = torch.stack([record.input, record.input])

# Linear works on the last axis
ffn(x)
# (2·{n}, {d_model}): the same rows, as a long list
ffn(x.flatten(0, 1)).unflatten(0, (2, {n}))
# one token at a time
torch.cat([ffn(row[None]) for row in x[0]])
"""


def sheet_of_shapes(run: Run, _: Values) -> Sheet:
    """The diagram beside the batch view."""
    d_model, d_ff, n = run.model.sizes.d_model, run.model.sizes.d_ff, len(run.labels)
    colour, labels = run.card.colour, [escaped(label) for label in run.labels]
    apart = position_wise(run.model, run.trace, run.state.block)
    alike = f"{counted(n, 'token')}, one set of {apart.n_parameters:,} parameters"
    shared = (
        f"{number(alike)}: no token's row depends on another's, and no position has weights of its "
        "own."
    )
    figure = shared_weights(labels, d_model, d_ff, apart.n_parameters, colour)
    alt = "Every token goes through the same weights on a line of its own."
    picture = chart_cell(Head(shared, "same", run.card.colour), figure, alt, height=656)
    compared = (
        (f"a batch of two copies, (2, {n}, {d_model}), against one", apart.batch),
        (f"the batch as {2 * n} rows, ({2 * n}, {d_model}), against the batch", apart.flattened),
        (f"each token alone, (1, {d_model}), against all together", apart.alone),
    )
    measured = (
        "On this sentence, just now, the outputs differed by at most "
        f"{number(short(max(difference for _, difference in compared)))}."
    )
    under = (
        "Where a difference is not exactly 0, it is rounding: a product of one row may be summed "
        "in another order than a product of many."
    )
    head = Head(measured, "batch", run.card.colour, under=under)
    rows = [(what, short(difference)) for what, difference in compared]
    table = table_cell("batch", head, ("what is compared", "largest difference"), rows)
    names = "Here ffn and record come from the view “shapes”:"
    title = text_cell("batch-view", f"{strong('In batches.')} {names}")
    code = code_cell("code", CODE_OF_SHAPES.format(n=n, d_model=d_model))
    return Sheet([row(picture, [title, code, table], widths=(1.2,))])


CODE = """\
# In PyTorch, with these weights
import ffnviz
import torch
from torch import nn

model = ffnviz.load("{network}")
trace = model.trace({text!r})
# what block {number} did
record = trace.blocks[{block}].ffn
trained = model.encoder.blocks[{block}].ffn

expand = nn.Linear({d_model}, {d_ff})
compress = nn.Linear({d_ff}, {d_model})
expand.load_state_dict(
    trained.expand.state_dict())
compress.load_state_dict(
    trained.compress.state_dict())

x = record.input              # ({n}, {d_model})
with torch.no_grad():
    hidden = expand(x)        # ({n}, {d_ff})
    hidden = nn.{label}()(hidden)
    output = compress(hidden) # ({n}, {d_model})
print(x.shape, "->", output.shape)
print((output - record.output).abs().max())
"""


def sheet(run: Run, _: Values) -> Sheet:
    """The diagram beside the code."""
    block, n, label = run.state.block, len(run.labels), run.card.phi.label
    d_model, d_ff = run.model.sizes.d_model, run.model.sizes.d_ff
    difference = against_sequential(run.model, run.trace, block)
    agreement = (
        f"differ by at most {short(difference)}" if difference else "give exactly the same numbers"
    )
    sentence = (
        f"Your {counted(n, 'token')} go{'es' * (n == 1)} through as "
        f"{number(f'({n}, {d_model:,}) → ({n}, {d_ff:,}) → ({n}, {d_model:,})')}: widened "
        f"{d_ff / d_model:.3g}-fold, bent, and narrowed again. PyTorch's layers with the same "
        f"weights {agreement}."
    )
    figure = flow(n, d_model, d_ff, label, run.card.colour)
    alt = f"From {n} by {d_model} to {n} by {d_ff} and back."
    picture = chart_cell(Head(sentence, "flow", run.card.colour), figure, alt, height=630)
    code = CODE.format(
        network=run.card.id,
        text=run.trace.text,
        block=block,
        number=block + 1,
        n=n,
        label=label,
        d_model=d_model,
        d_ff=d_ff,
    )
    return Sheet([row(picture, code_cell("code", code), widths=(1.2,))])
