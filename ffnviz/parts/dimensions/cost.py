"""Cost: parameters, multiply-adds and memory of any Transformer's parts."""

from dataclasses import replace
from typing import Any

import numpy as np

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
from ffnviz.parts.sheet import Choice, Control, Sheet, row, set_to
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting

PRESET = choice_setting("preset", {name: preset.name for name, preset in PRESETS.items()})
GATED = choice_setting(
    "gated",
    {"preset": "as preset", "plain": "plain: two matrices", "gated": "gated: three"},
)


def _size(name: str, label: str, *stops: int, also: tuple[str, ...] = ()) -> Setting[int]:
    # 0 stands for what the preset has.
    return count_setting(name, 0, 0, 1_000_000, also).with_control(label, stops, "{:,}".format)


SIZES = {
    "d_model": _size("d_model", "d_model, width of the stream", 64, 128, 256, 384, 512, 768, 1024,
                     1536, 2048, 3072, 4096, 6144, 8192),
    "d_ff": _size("d_ff", "d_ff, hidden units", 64, 128, 256, 512, 768, 1024, 1536, 2048, 3072,
                  4096, 6144, 8192, 11008, 16384, 24576, 32768),
    "n_heads": _size("heads", "heads", 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64),
    "n_tokens": _size("n_tokens", "n, tokens in the sequence", 1, 8, 32, 64, 128, 256, 512, 1024,
                      2048, 4096, 8192, 16384, 32768, 131072, also=("length",)),
    "vocab_size": _size("vocabulary", "entries of the vocabulary", 1000, 4096, 8192, 16384, 30522,
                        32000, 32128, 37000, 50257, 65536, 128256, 256000),
}  # fmt: skip
SETTINGS: tuple[Setting[Any], ...] = (PRESET, GATED, *SIZES.values())
LENGTHS = np.geomspace(1, 200_000, 81)


def sheet(run: Run, values: Values) -> Sheet:
    """The costs beside the FFNs' share as the sequence grows."""
    shape = chosen_shape(values)
    name = PRESETS[values[PRESET]].name
    pictures = costs(run, name, shape, _details(values, shape)), share_against_length(run, shape)
    return Sheet([row(*pictures, widths=(1.3,))], what_to_count(values, shape))


def chosen_shape(values: Values) -> Shape:
    """The preset's shape with what the sliders changed."""
    shape = PRESETS[values[PRESET]].shape
    changed: dict[str, Any] = {name: values[size] for name, size in SIZES.items() if values[size]}
    gated = shape.gated if values[GATED] == "preset" else values[GATED] == "gated"
    return replace(shape, **changed, gated=gated)


def what_to_count(values: Values, shape: Shape) -> list[Control]:
    """The preset, which resets the rest, and the sizes; a link leaves out the preset's own."""
    preset = PRESETS[values[PRESET]].shape
    names = list(PRESETS)

    def start_from(at: int) -> Set:
        return Set({each.name: None for each in SETTINGS} | {PRESET.name: names[at]})

    def gate(at: int) -> Set:
        return set_to(GATED, "preset" if bool(at) == preset.gated else ("plain", "gated")[at])

    def slider(name: str, size: Setting[int]) -> Setting[int]:
        own, now = getattr(preset, name), getattr(shape, name)
        stops = sorted({*size.stops, own, now})
        if name == "n_heads":
            stops = [stop for stop in stops if shape.d_model % stop == 0] or [1]
        return replace(size, default=own, stops=stops, text=lambda n: str(0 if n == own else n))

    return [
        Choice("Start from", [each.name for each in PRESETS.values()], start_from,
               names.index(values[PRESET])),
        Choice("FFN", [GATED.options["plain"], GATED.options["gated"]], gate, int(shape.gated)),
        *(slider(name, size) for name, size in SIZES.items()),
    ]  # fmt: skip


def _details(values: Values, shape: Shape) -> Sentence:
    preset, sizes = PRESETS[values[PRESET]], memory(shape)
    width, rest = divmod(shape.d_model, shape.n_heads)
    return [
        f"Weights: {_bytes(sizes['float32'])} in float32, {_bytes(sizes['float16'])} in float16 "
        f"or bfloat16. {shape.n_blocks} blocks",
        f", {shape.n_cross} of them with cross-attention" if shape.n_cross else "",
        f"; {shape.d_model} cannot be split evenly among {shape.n_heads} heads." if rest
        else f"; each head is {width} wide.",
        f" {preset.name}: {preset.source}.",
    ]  # fmt: skip


def costs(run: Run, name: str, shape: Shape, under: Sentence) -> Cell:
    """Parameters and multiply-adds, part by part."""
    count, work = parameters(shape), multiply_adds(shape)
    share, busy = (parts["FFN"] / sum(parts.values()) for parts in (count, work))
    sentence: Sentence = [
        f"{name}, with the sizes set here: the FFNs hold ",
        number(percent(share)), f" of the parameters and do {percent(busy)} of the multiply-adds "
        f"for {shape.n_tokens:,} tokens.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "costs", run.card.colour, under=under),
        figures.costs(count, work, run.card.colour),
        "Parameters and multiply-adds of embedding, attention, FFN, LayerNorm and output.",
        height=310,
    )


def share_against_length(run: Run, shape: Shape) -> Cell:
    """The FFNs' share in a block as sequences grow."""
    overtaken = overtaking_length(shape)
    now = float(shape.n_tokens), ffn_share(shape, shape.n_tokens)
    where: Sentence = (
        ["Attention computes as much as the FFNs at ", number(f"{overtaken:,.0f} tokens"), "; at "]
        if overtaken > 0
        else ["Attention computes more than the FFNs at any length; at "]
    )
    share = percent(now[1])
    sentence: Sentence = [*where, f"{shape.n_tokens:,} the FFNs do ",
                          share if overtaken > 0 else number(share),
                          " of the blocks' multiply-adds."]  # fmt: skip
    shares = np.array([ffn_share(shape, length) for length in LENGTHS])
    return chart_cell(
        Head(sentence, "overtaking", run.card.colour),
        figures.share_against_length(LENGTHS, shares, now, overtaken, run.card.colour),
        "The FFNs' share of the multiply-adds against the length of the sequence.",
        key="share-against-length",
        height=330,
    )


def _bytes(size: int) -> str:
    return f"{figures.short(size)}B"
