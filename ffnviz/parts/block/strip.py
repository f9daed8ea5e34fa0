"""Ablate parts: take parts away from untrained blocks, and see what becomes of the tokens."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ffnviz.analysis.gradients import vector_jacobian
from ffnviz.analysis.lab.residual import draw_by_glorot
from ffnviz.analysis.needs import encoder_of
from ffnviz.analysis.number_format import short
from ffnviz.jobs.run_queue import SERIAL_LOCK
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.network import Network
from ffnviz.models.torch_shortcuts import no_draws
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array
from ffnviz.pictures.wording import Sentence, counted, listed, number, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, count_slider

PARTS = ("attention", "ffn", "residual", "norm", "phi")
D_MODEL, N_HEADS, D_FF = 128, 4, 512
DEEPEST, DEPTH = 24, 12
MOST_TOKENS = 40
SEEDS = 20


@dataclass(frozen=True, eq=False)
class Stack:
    """What a stack does to the tokens, from its input (0) to the output of its last layer, L."""

    apart: Array  # told_apart of each stream, (L + 1,)
    similarity: Array  # the mean cosine between two tokens' vectors, (L + 1,)
    scale: Array  # the root mean square of the stream's entries, (L + 1,)
    # the norm that is left of a gradient of norm 1 at the chosen token's output, (L + 1,)
    gradient: Array
    # between any two tokens, at the input and at the output, (T, T) each
    cosines: tuple[Array, Array]


def untrained(depth: int, activation: str, seed: int) -> list[Block]:
    """Blocks in float64, initialised as PyTorch's Transformer is."""
    config = EncoderConfig(
        n_blocks=depth, activation=activation, d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF
    )
    generator = torch.Generator().manual_seed(seed)
    with no_draws():  # half the time would be spent on weights that are replaced below
        blocks = [Block(config).double().requires_grad_(False) for _ in range(depth)]
    for block in blocks:
        draw_by_glorot(block, generator)
    return blocks


def entered(trace: ForwardPass, seed: int) -> Float[Tensor, "tokens d_model"]:
    """The stack's input: the first embeddings, projected at random to (T, 128), of RMS 1."""
    embedding = trace.embedding[:MOST_TOKENS].to("cpu", torch.float64).clone()
    generator = torch.Generator().manual_seed(seed)
    shape = embedding.shape[-1], D_MODEL
    x = embedding @ torch.randn(shape, generator=generator, dtype=torch.float64)
    scaled: Tensor = x / x.square().mean().sqrt()
    return scaled


def layer(block: Block, x: Tensor, without: Collection[str]) -> Tensor:
    """One pre-LN block, (T, d_model), without some of PARTS but φ, which `untrained` leaves out."""
    for name, norm, sublayer in (
        ("attention", block.attention_norm, block.attention),
        ("ffn", block.ffn_norm, block.ffn),
    ):
        if name not in without:
            output: Tensor = sublayer(x if "norm" in without else norm(x)).output
            x = output if "residual" in without else x + output
    return x


def strip(
    x: Float[Tensor, "tokens d_model"],  # from `entered`
    depth: int,  # layers, at least 1
    token: int,  # whose output the gradient starts from
    without: Collection[str],
    activation: str,  # φ's name; unused without "phi"
    seed: int,  # of the weights
) -> Stack:
    """A stack of so many untrained layers without some of PARTS, on a sentence."""
    blocks = untrained(depth, "identity" if "phi" in without else activation, seed)
    return watch([partial(layer, block, without=without) for block in blocks], x, token)


def watch(layers: list[Callable[[Tensor], Tensor]], x: Tensor, token: int) -> Stack:
    """What maps, (T, d) -> (T, d), one after the other, do to the tokens."""
    streams = [x.detach().clone().requires_grad_()]
    with torch.enable_grad():
        for apply in layers:
            streams.append(apply(streams[-1]))
        top = streams[-1][token]
        generator = torch.Generator().manual_seed(0)
        direction = torch.randn(top.shape, generator=generator, dtype=top.dtype).to(top.device)
    slopes = vector_jacobian(direction / direction.norm(), top, streams)
    values = [stream.detach().cpu().double() for stream in streams]
    units = [value / value.norm(dim=-1, keepdim=True).clamp_min(1e-300) for value in values]
    cosines = [unit @ unit.mT for unit in units]
    n = len(x)
    pairs = n * (n - 1)
    return Stack(
        np.array([told_apart(value) for value in values]),
        np.array([float(c.sum() - c.trace()) / pairs if pairs else 1.0 for c in cosines]),
        np.array([float(value.square().mean().sqrt()) for value in values]),
        np.array([float(slope.norm()) for slope in slopes]),
        (cosines[0].numpy(), cosines[-1].numpy()),
    )


def told_apart(x: Float[Tensor, "tokens d_model"]) -> float:
    """‖x − 1x̄ᵀ‖ / ‖x‖, the share that is not common to all tokens (compare Dong et al. 2021)."""
    norm = float(x.norm())
    return float((x - x.mean(dim=0)).norm()) / norm if norm else 0.0


def of_the_network(model: Network, trace: ForwardPass, token: int) -> Stack:
    """The same of the network's own trained blocks."""
    blocks = encoder_of(model).blocks
    x = trace.embedding[:MOST_TOKENS].clone()
    return watch([lambda v, b=block: b(v).output for block in blocks], x, token)  # type: ignore[misc]


NAMES = {
    "attention": "attention",
    "ffn": "FFN",
    "residual": "residual",
    "norm": "LayerNorm",
    "phi": "φ",
}
WITHOUT = Setting[Any](
    "without",
    ("ffn", "residual"),
    lambda text: tuple(part for part in PARTS if part in text.split("-")),
    lambda parts: "-".join(parts) or "none",
    options=NAMES,
).with_control("Take away")
LAYERS = count_slider("blocks", DEPTH, range(1, DEEPEST + 1), "blocks")
SEED = count_slider("stack_seed", 1, range(1, SEEDS + 1), "seed of the weights")
SETTINGS = (WITHOUT, LAYERS, SEED)
ROUNDING = 1e-14  # of float64, over a few layers of 128 numbers
FULL = "complete"
FLOOR = 1e-17  # below what float64 can tell apart
Stacks = Mapping[str, tuple[Stack, str, str]]  # with the colour and the dash of each


def sheet(run: Run, values: Values) -> Sheet:
    """Four pictures of the stack without what is taken away."""
    without, depth, seed = values[WITHOUT], values[LAYERS], values[SEED]
    token, phi, colour = min(run.token, MOST_TOKENS - 1), run.card.phi.name, run.card.colour
    with SERIAL_LOCK:
        x = entered(run.trace, seed)
        result = strip(x, depth, token, without, phi, seed)
        full = run.subject.per_sentence(
            ("full stack", depth, token, seed), lambda: strip(x, depth, token, (), phi, seed)
        )
    trained = run.subject.per_sentence(
        ("watched", token), lambda: of_the_network(run.model, run.trace, token)
    )
    stacks = {FULL: (full, "@muted", "dash")} if without else {}
    named = f"without {', '.join(NAMES[part] for part in without)}" if without else FULL
    stacks |= {
        named: (result, f"@{colour}", "solid"),
        f"{plot.escaped(run.card.label)}, trained": (trained, "@text", "dot"),
    }
    apart = Head(_of_collapse(result, without), "apart", colour)
    first, last = (short(float(result.scale[at])) for at in (0, -1))
    grows = f"The root mean square of the stream goes from {first} to {number(last)}."
    arrives = float(result.gradient[0])
    reaches = (
        f"A gradient of length 1 at {quoted(run.labels[token])} after block {depth} "
        f"{'grows' if arrives > 1 else 'shrinks'} to {number(short(arrives))} at the input."
    )
    gradient = Head(reaches, "strip-gradient", colour)
    left = [curve(stacks, "apart", "how far the tokens differ", apart, 320), likeness(run, result)]
    right = [
        curve(stacks, "scale", "root mean square", Head(grows, "scale", colour), 290),
        curve(stacks, "gradient", "length of the gradient", gradient, 290),
    ]
    return Sheet([row(left, right, widths=(1.2, 1))])


def _of_collapse(result: Stack, without: Sequence[str]) -> Sentence:
    if len(result.cosines[0]) < 2:
        return "A single token has no other to be told apart from. Type a second word."
    blocks = counted(len(result.apart) - 1, "untrained block")
    taken = f" without {listed(NAMES[part] for part in without)}" if without else ""
    equal = result.apart[-1] < ROUNDING <= result.apart[0]
    return (
        f"After {blocks}{taken}, the tokens differ by {number(short(float(result.apart[-1])))} of "
        f"their vectors' length{', which is rounding' if equal else ''} (at the start "
        f"{short(float(result.apart[0]))})."
    )


def curve(stacks: Stacks, what: str, title: str, head: Head, height: int) -> Cell:
    """One quantity of the stacks from their input, layer 0, on; shorter stacks end earlier."""
    shown = {name: getattr(stack, what) for name, (stack, _, _) in stacks.items()}
    seen = np.concatenate([[1.0], *(values[values > 0] for values in shown.values())])
    decades = float(np.log10(seen.max() / max(FLOOR, seen.min())))
    ticks = {"dtick": max(1, round(decades / 2))} if decades > 1 else {}
    deepest = max(len(values) for values in shown.values())

    def padded(values: Array) -> Array:
        drawn = np.where(values > 0, np.maximum(values, FLOOR), np.nan)
        return np.concatenate([drawn, np.full(deepest - len(values), np.nan)])

    legend = what == "scale"  # one for all three
    figure = plot.lines(
        np.arange(deepest),
        {name: (padded(shown[name]), colour, dash) for name, (_, colour, dash) in stacks.items()},
        plot.axis("block", dtick=max(1, deepest // 8)),
        plot.axis(title, type="log", exponentformat="power", **ticks),
        margin={"l": 92, "r": 16, "t": 44 if legend else 12, "b": 56},
        showlegend=legend,
    )
    return chart_cell(head, figure, f"{title}, after each block.", f"strip-{what}", height)


def likeness(run: Run, result: Stack) -> Cell:
    """The cosine of any two tokens, a square a pair, before the stack and after it."""
    depth, labels = len(result.similarity) - 1, run.labels[: len(result.cosines[0])]
    sentence = f"A token's cosine with itself is {number('1')}."
    if len(labels) > 1:
        sentence = (
            f"At first, two tokens' vectors have a cosine of {result.similarity[0]:.2f} on "
            f"average; after block {depth}, of {number(f'{result.similarity[-1]:.3f}')}."
        )
    width, gap = 0.43, 0.14  # of a map, and between the two
    ticks = {**plot.some_named(labels, 12, 8), "tickfont": {"size": 16}}
    looks: plot.Options = {"showscale": False, "xgap": 1, "ygap": 1}
    looks["colorscale"] = [[0, "@negative_mid"], [0.5, "@background"], [1, f"@{run.card.colour}"]]
    looks["hovertemplate"] = "%{y}, %{x}: cosine %{z:.3f}<extra></extra>"
    traces, axes, titles = [], {}, []
    names = "before the first block", f"after block {depth}"
    for place, (title, cosines) in enumerate(zip(names, result.cosines, strict=True)):
        left, suffix = place * (width + gap), str(place + 1) if place else ""
        x, y = f"x{suffix}", f"y{suffix}"
        traces.append(plot.heatmap(title, cosines, -1, 1, xaxis=x, yaxis=y, **looks))
        at = [left, left + width]
        axes[f"xaxis{suffix}"] = plot.bare_axis("", domain=at, anchor=y, **ticks)
        rows = {"range": [len(labels) - 0.5, -0.5], "showticklabels": place == 0, **ticks}
        axes[f"yaxis{suffix}"] = plot.bare_axis("", anchor=x, **rows)
        titles.append(plot.panel_title(title, left, 1.01))
    figure = plot.figure(
        traces,
        axes.pop("xaxis"),
        axes.pop("yaxis"),
        **axes,
        annotations=titles,
        meta={"panels": 2},
        showlegend=False,
        margin={"l": 92, "r": 10, "t": 40, "b": 70},
    )
    alt = "The cosine of any two tokens' vectors, before the stack and after it."
    return chart_cell(Head(sentence, "alike", run.card.colour), figure, alt, height=256)
