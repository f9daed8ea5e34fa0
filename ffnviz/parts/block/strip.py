"""Ablate layers: take parts away from untrained blocks, and see what becomes of the tokens."""

from collections.abc import Sequence
from typing import Any

from ffnviz.analysis.block.stack import (
    DEEPEST,
    DEPTH,
    MOST_TOKENS,
    PARTS,
    SEEDS,
    Stack,
    entered,
    of_the_network,
    strip,
)
from ffnviz.analysis.number_format import short
from ffnviz.figures.block.strip import alike, over_layers
from ffnviz.figures.layout import escaped
from ffnviz.figures.wording import Sentence, number, quoted
from ffnviz.jobs.serial_lock import SERIAL_LOCK
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, count_setting

NAMES = {
    "attention": "attention", "ffn": "FFN", "residual": "residual", "norm": "LayerNorm",
    "phi": "φ",
}  # fmt: skip


def parts_in(text: str) -> tuple[str, ...]:
    """The parts that a URL's text names, in their usual order."""
    return tuple(part for part in PARTS if part in text.split("-"))


WITHOUT = Setting[Any](
    "without", ("ffn", "residual"), parts_in, lambda parts: "-".join(parts) or "none",
    options=NAMES,
).with_control("Take away")  # fmt: skip
LAYERS = count_setting("blocks", DEPTH, 1, DEEPEST).with_control("layers", range(1, DEEPEST + 1))
SEED = count_setting("stack_seed", 1, 1, SEEDS).with_control(
    "seed of the weights", range(1, SEEDS + 1)
)
SETTINGS = (WITHOUT, LAYERS, SEED)
ROUNDING = 1e-14  # of float64, over a few layers of 128 numbers
FULL = "complete"


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
        f"{escaped(run.card.label)}, trained": (trained, "@text", "dot"),
    }
    labels = run.labels[: len(x)]
    likeness = chart_cell(
        Head(_of_likeness(result, depth), "alike", colour),
        alike([("before the first layer", result.cosines[0]),
               (f"after layer {depth}", result.cosines[1])], labels, f"@{colour}"),
        "The cosine of any two tokens' vectors, before the stack and after it.",
        height=256,
    )  # fmt: skip
    apart = Head(_of_collapse(result, without), "apart", colour)
    scale = Head(_of_scale(result), "scale", colour)
    gradient = Head(_of_gradient(result, labels[token], depth), "strip-gradient", colour)
    return Sheet([row(
        [curve(stacks, "apart", "how far the tokens differ", apart, 320), likeness],
        [curve(stacks, "scale", "root mean square", scale, 290),
         curve(stacks, "gradient", "length of the gradient", gradient, 290)],
        widths=(1.2, 1),
    )])  # fmt: skip


def curve(
    stacks: dict[str, tuple[Stack, str, str]], what: str, title: str, head: Head, height: int
) -> Cell:
    """One quantity of the stacks over their layers."""
    series = {
        name: (getattr(stack, what), colour, dash) for name, (stack, colour, dash) in stacks.items()
    }
    figure = over_layers(series, title, legend=what == "apart")  # one for all three
    return chart_cell(head, figure, f"{title}, at each layer.", f"strip-{what}", height)


def _listed(without: Sequence[str]) -> str:
    names = [NAMES[part] for part in without]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _of_collapse(result: Stack, without: Sequence[str]) -> Sentence:
    depth = len(result.apart) - 1
    layers = f"{depth} untrained layer{'s' * (depth > 1)}"
    if len(result.cosines[0]) < 2:
        return ["A single token has no other to be told apart from. Type a second word."]
    taken = f" without {_listed(without)}" if without else ""
    equal = result.apart[-1] < ROUNDING <= result.apart[0]
    return [
        f"After {layers}{taken}, ",
        "the tokens are identical up to rounding: they" if equal else "the tokens",
        " differ by ", number(short(float(result.apart[-1]))),
        f" of their vectors' length, and at the start by {short(float(result.apart[0]))}.",
    ]  # fmt: skip


def _of_likeness(result: Stack, depth: int) -> Sentence:
    if len(result.cosines[0]) < 2:
        return ["A token's cosine with itself is ", number("1"), "."]
    return [
        f"Two tokens' vectors have a cosine of {result.similarity[0]:.2f} on average; after layer "
        f"{depth}, of ", number(f"{result.similarity[-1]:.3f}"), ".",
    ]  # fmt: skip


def _of_scale(result: Stack) -> Sentence:
    first, last = (short(float(result.scale[layer])) for layer in (0, -1))
    return [f"The root mean square of the stream goes from {first} to ", number(last), "."]


def _of_gradient(result: Stack, label: str, depth: int) -> Sentence:
    arrives = float(result.gradient[0])
    return [
        "A unit gradient at ", quoted(label), f" after layer {depth} ",
        "grows" if arrives > 1 else "shrinks", " to ", number(short(arrives)), " at the input.",
    ]  # fmt: skip
