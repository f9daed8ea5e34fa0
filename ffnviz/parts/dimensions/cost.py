"""What it costs: parameters, multiply-adds and memory of any Transformer's parts."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from ffnviz.analysis.dimensions.cost import (
    Shape,
    ffn_share,
    memory,
    multiply_adds,
    overtaking_length,
    parameters,
)
from ffnviz.analysis.dimensions.presets import PRESETS
from ffnviz.figures.dimensions import cost as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import slider
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, choice_setting, count_setting

LARGEST = 1_000_000
PRESET = choice_setting("preset", {name: preset.name for name, preset in PRESETS.items()})
GATED = choice_setting(
    "gated",
    {"preset": "as preset", "plain": "plain: two matrices", "gated": "gated: three"},
)
# 0 stands for what the preset has.
D_MODEL = count_setting("d_model", 0, 0, LARGEST)
D_FF = count_setting("d_ff", 0, 0, LARGEST)
HEADS = count_setting("heads", 0, 0, LARGEST)
LENGTH = count_setting("n_tokens", 0, 0, LARGEST, also=("length",))
VOCABULARY = count_setting("vocabulary", 0, 0, LARGEST)
SETTINGS = (PRESET, GATED, D_MODEL, D_FF, HEADS, LENGTH, VOCABULARY)
SLIDERS: dict[str, tuple[str, Setting[int], tuple[int, ...]]] = {
    "d_model": ("d_model, width of the stream", D_MODEL,
                (64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192)),
    "d_ff": ("d_ff, hidden units", D_FF,
             (64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 11008, 16384,
              24576, 32768)),
    "n_heads": ("heads", HEADS, (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64)),
    "n_tokens": ("n, tokens in the sequence", LENGTH,
                 (1, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 131072)),
    "vocab_size": ("entries of the vocabulary", VOCABULARY,
                   (1000, 4096, 8192, 16384, 30522, 32000, 32128, 37000, 50257, 65536, 128256,
                    256000)),
}  # fmt: skip
LENGTHS = np.geomspace(1, 200_000, 81)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The sliders beside what they change."""
    shape = chosen_shape(navigator)
    left, right = st.columns([1, 2.2], gap="medium")
    with left:
        what_to_count(navigator, shape)
    with right:
        costs(run, navigator, shape)
        share_against_length(run, shape)


def chosen_shape(navigator: Navigator) -> Shape:
    """The preset's shape with what the sliders changed."""
    shape = PRESETS[navigator.value(PRESET)].shape
    changed: dict[str, Any] = {
        name: value
        for name, (_, setting, _) in SLIDERS.items()
        if (value := navigator.value(setting))
    }
    gated = navigator.value(GATED)
    return replace(shape, **changed, gated=shape.gated if gated == "preset" else gated == "gated")


def what_to_count(navigator: Navigator, shape: Shape) -> None:
    """The preset, the sliders, and what no slider changes."""
    preset = PRESETS[navigator.value(PRESET)]

    def take_preset() -> None:
        navigator.choose(PRESET, st.session_state["cost-preset"])
        for setting in SETTINGS[1:]:
            navigator.do(Set({setting.name: None}))

    st.session_state["cost-preset"] = navigator.value(PRESET)
    st.selectbox("Start from", list(PRESETS), key="cost-preset", on_change=take_preset,
                 format_func=lambda name: PRESETS[name].name)  # fmt: skip
    for name, (label, setting, stops) in SLIDERS.items():
        own = getattr(preset.shape, name)
        places = sorted({*stops, own, getattr(shape, name)})
        if name == "n_heads":
            places = [place for place in places if shape.d_model % place == 0] or [1]

        def choose(stop: int, done: bool, setting: Setting[int] = setting,
                   places: list[int] = places, own: int = own) -> None:  # fmt: skip
            navigator.choose(setting, 0 if places[stop] == own else places[stop], done)

        now = getattr(shape, name)
        stop = places.index(now) if now in places else 0
        slider(label, [f"{place:,}" for place in places], stop, key=f"cost-{name}",
               on_choose=choose)  # fmt: skip
    key = "cost-gated"
    st.session_state[key] = "gated" if shape.gated else "plain"
    st.segmented_control(
        "FFN", ["plain", "gated"], key=key, required=True, label_visibility="collapsed",
        format_func={"plain": "plain: two matrices", "gated": "gated: three"}.__getitem__,
        on_change=lambda: navigator.choose(GATED, _gated(st.session_state[key], preset.shape)),
    )  # fmt: skip
    sizes = memory(shape)
    each = shape.d_model % shape.n_heads == 0
    st.markdown(
        f"Weights: **{_bytes(sizes['float32'])}** in float32, **{_bytes(sizes['float16'])}** in "
        f"float16 or bfloat16. {shape.n_blocks} blocks"
        + (f", {shape.n_cross} of them with cross-attention" if shape.n_cross else "")
        + (f"; a head is {shape.d_model // shape.n_heads} wide." if each else
           f"; {shape.n_heads} heads cannot share {shape.d_model} evenly.")
        + f" {preset.name}: {preset.source}."
    )  # fmt: skip


def costs(run: Run, navigator: Navigator, shape: Shape) -> None:
    """Parameters and multiply-adds, part by part."""
    count, work = parameters(shape), multiply_adds(shape)
    share, busy = (parts["FFN"] / sum(parts.values()) for parts in (count, work))
    name = PRESETS[navigator.value(PRESET)].name
    sentence: Sentence = [
        f"{name}, with the sizes set here: the FFNs hold ",
        number(percent(share)), " of the parameters and do ",
        number(percent(busy)), f" of the multiply-adds for {shape.n_tokens:,} tokens.",
    ]  # fmt: skip
    chart(
        Head(sentence, "costs", run.card.colour),
        figures.costs(count, work, run.card.colour),
        "Parameters and multiply-adds of embedding, attention, FFN, LayerNorm and output.",
        f"{run.stamp} {shape}",
        key="costs",
        height=310,
    )


def share_against_length(run: Run, shape: Shape) -> None:
    """The FFNs' share in a block as sequences grow."""
    overtaken = overtaking_length(shape)
    now = float(shape.n_tokens), ffn_share(shape, shape.n_tokens)
    where: Sentence = (
        ["Attention computes as much as the FFNs at ", number(f"{overtaken:,.0f} tokens"), "; at "]
        if overtaken > 0
        else ["Attention computes more than the FFNs at any length; at "]
    )
    sentence: Sentence = [*where, f"{shape.n_tokens:,} the FFNs do ", number(percent(now[1])),
                          " of the blocks' multiply-adds."]  # fmt: skip
    shares = np.array([ffn_share(shape, length) for length in LENGTHS])
    chart(
        Head(sentence, "overtaking", run.card.colour),
        figures.share_against_length(LENGTHS, shares, now, overtaken, run.card.colour),
        "The FFNs' share of the multiply-adds against the length of the sequence.",
        f"{run.stamp} {shape}",
        key="share-against-length",
        height=330,
    )


def _gated(chosen: str, shape: Shape) -> str:
    return "preset" if (chosen == "gated") == shape.gated else chosen


def _bytes(size: int) -> str:
    return f"{figures.short(size)}B"
