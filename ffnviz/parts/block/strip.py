"""Strip the stack: take parts away from untrained blocks, and see what becomes of the tokens."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

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
from ffnviz.figures.block.strip import Series, alike, over_layers
from ffnviz.figures.layout import escaped
from ffnviz.figures.wording import Sentence, number, quoted
from ffnviz.parts.measurement import one_at_a_time
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import slider
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, count_setting

NAMES = {
    "attention": "attention", "ffn": "FFN", "residual": "residual", "norm": "LayerNorm",
    "phi": "φ",
}  # fmt: skip


def parts_in(text: str) -> tuple[str, ...]:
    """The parts that a URL's text names, in their usual order; "none" names none."""
    return tuple(part for part in PARTS if part in text.split("-"))


WITHOUT: Setting[tuple[str, ...]] = Setting(
    "without", ("ffn", "residual"), parts_in, lambda parts: "-".join(parts) or "none"
)
LAYERS = count_setting("blocks", DEPTH, 1, DEEPEST)
SEED = count_setting("stack_seed", 1, 1, SEEDS)
SETTINGS = (WITHOUT, LAYERS, SEED)
ROUNDING = 1e-14  # of float64, over a few layers of 128 numbers
KEY = "strip-without"
FULL = "nothing taken away"


@live
def render(run: Run, navigator: Navigator) -> None:
    """What is taken away, and four pictures of what follows."""
    without, depth = navigator.value(WITHOUT), navigator.value(LAYERS)
    seed = navigator.value(SEED)
    with st.container(key="below-strip"):
        controls(navigator, without, depth, seed)
    token = min(run.token, MOST_TOKENS - 1)
    phi = run.card.phi.name
    with one_at_a_time():
        x = entered(run.trace, seed)
        found = strip(x, depth, token, without, phi, seed)
        full = run.subject.per_sentence(
            ("full stack", depth, token, seed), lambda: strip(x, depth, token, (), phi, seed)
        )
    trained = run.subject.per_sentence(
        ("watched", token), lambda: of_the_network(run.model, run.trace, token)
    )
    stacks = {FULL: (full, "@muted", "dash")} if without else {}
    stacks |= {
        f"without {_listed(without)}" if without else FULL: (found, f"@{run.card.colour}", "solid"),
        f"{escaped(run.card.label)}, trained": (trained, "@text", "dot"),
    }
    labels = run.labels[: len(x)]
    stamp = f"{run.stamp} {without} {depth} {seed}"
    left, right = st.columns([1.1, 1], gap="medium")
    with left:
        curve(run, stacks, "apart", "share that tells tokens apart", _of_collapse(found, without),
              stamp, 330)  # fmt: skip
        chart(
            Head(_of_likeness(found, depth), "alike", run.card.colour),
            alike([("before the first layer", found.cosines[0]),
                   (f"after layer {depth}", found.cosines[1])], labels, f"@{run.card.colour}"),
            "The cosine of any two tokens' vectors, before the stack and after it.",
            stamp,
            key="alike",
            height=270,
        )  # fmt: skip
    with right:
        curve(run, stacks, "scale", "root mean square", _of_scale(found), stamp, 300)
        curve(run, stacks, "gradient", "of a gradient of 1, arrives",
              _of_gradient(found, labels[token], depth), stamp, 300)  # fmt: skip


def controls(navigator: Navigator, without: Sequence[str], depth: int, seed: int) -> None:
    """What is taken away, how many layers, and which weights."""
    first, second, third = st.columns([2, 1.4, 1], vertical_alignment="bottom", gap="medium")
    with first:
        st.session_state[KEY] = list(without)
        st.pills(
            "Take away",
            PARTS,
            selection_mode="multi",
            key=KEY,
            format_func=lambda part: NAMES[part],
            on_change=lambda: navigator.choose(WITHOUT, tuple(
                part for part in PARTS if part in st.session_state[KEY])),
        )  # fmt: skip
    with second:
        slider(
            "layers", [str(k + 1) for k in range(DEEPEST)], depth - 1, key="strip-layers",
            on_choose=lambda stop, done: navigator.choose(LAYERS, stop + 1, done),
        )  # fmt: skip
    with third:
        slider(
            "seed of the weights", [str(k + 1) for k in range(SEEDS)], seed - 1, key="strip-seed",
            on_choose=lambda stop, done: navigator.choose(SEED, stop + 1, done),
        )  # fmt: skip


def curve(
    run: Run, stacks: dict[str, tuple[Stack, str, str]], what: str, title: str,
    sentence: Sentence, stamp: str, height: int,
) -> None:  # fmt: skip
    """One quantity over the layers."""
    series: Series = {
        name: (getattr(stack, what), colour, dash) for name, (stack, colour, dash) in stacks.items()
    }
    head: dict[str, Any] = {
        "apart": Head(sentence, "apart", run.card.colour),
        "scale": Head(sentence, "scale", run.card.colour),
        "gradient": Head(sentence, "strip-gradient", run.card.colour),
    }
    chart(
        head[what], over_layers(series, title), f"{title}, at each layer.", stamp,
        key=f"strip-{what}", height=height,
    )  # fmt: skip


def _listed(without: Sequence[str]) -> str:
    names = [NAMES[part] for part in without]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _of_collapse(found: Stack, without: Sequence[str]) -> Sentence:
    depth = len(found.apart) - 1
    layers = f"{depth} untrained layer{'s' * (depth > 1)}"
    if len(found.cosines[0]) < 2:
        return ["A single token has no other to be told apart from. Type a second word."]
    taken = f" without {_listed(without)}" if without else ""
    if found.apart[-1] < ROUNDING <= found.apart[0]:
        return [
            f"After {layers}{taken}, nothing tells the tokens apart but rounding (",
            number(short(float(found.apart[-1]))), " of the vectors' length; at the start ",
            number(short(float(found.apart[0]))), ").",
        ]  # fmt: skip
    return [
        f"After {layers}{taken}, ", number(short(float(found.apart[-1]))),
        " of the vectors' length tells the tokens apart; at the start ",
        number(short(float(found.apart[0]))), ".",
    ]  # fmt: skip


def _of_likeness(found: Stack, depth: int) -> Sentence:
    if len(found.cosines[0]) < 2:
        return ["One token is like itself: its cosine is ", number("1"), "."]
    return [
        "Two tokens' vectors have a cosine of ", number(f"{found.similarity[0]:.2f}"),
        f" on average; after layer {depth}, of ", number(f"{found.similarity[-1]:.3f}"), ".",
    ]  # fmt: skip


def _of_scale(found: Stack) -> Sentence:
    return [
        "The stream's numbers go from a root mean square of ", number(short(float(found.scale[0]))),
        " to ", number(short(float(found.scale[-1]))), ".",
    ]  # fmt: skip


def _of_gradient(found: Stack, label: str, depth: int) -> Sentence:
    return [
        "Of a gradient of length 1 at ", quoted(label), f" after layer {depth}, ",
        number(short(float(found.gradient[0]))), " arrives at the input.",
    ]  # fmt: skip
