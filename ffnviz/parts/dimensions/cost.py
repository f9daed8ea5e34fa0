"""Cost: parameters, multiply-adds and memory of any Transformer's parts."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ffnviz.analysis.cost import (
    PRESETS,
    Preset,
    Shape,
    ffn_share,
    memory,
    multiply_adds,
    overtaking_length,
    parameters,
)
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import ours
from ffnviz.analysis.timing.growth import WIDTH_TOKENS, Growth, grow_with_length, grow_with_width
from ffnviz.parts.sheet import (
    Choice,
    Control,
    Measured,
    Sheet,
    Soon,
    measured_on,
    measured_row,
    row,
    set_to,
)
from ffnviz.pictures import plot
from ffnviz.pictures import time_charts as figures
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure
from ffnviz.pictures.wording import counted, number, percent
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting

RUNS = 5
LENGTH_SHARE = 0.75  # of the time, for the progress bar


def growth_sheet(run: Run, _: Values) -> Sheet:
    """Time against T and against d_ff, with when and where it was measured."""
    setup = (run.card.id, run.device)  # all blocks are of one size
    colour, wider = run.card.colour, Soon("width", "How the time grows with d_ff")

    def cards(measured: Measured[tuple[Growth, Growth | None]]) -> tuple[Cell, Cell | Soon]:
        length, width = measured.result
        sentence = (
            f"With {length.sizes[-1] / length.sizes[0]:g} times as many tokens the FFN takes "
            f"{number(f'{_slower(length, 1):.1f} times')} as long for one text, and "
            f"{_slower(length, 32):.1f} times in a batch of 32."
        )
        head = Head(sentence, "growth", colour, under=measured_on(measured))
        first = curves(length, "tokens T", head)
        if width is None:
            return first, wider
        sentence = (
            f"With {width.sizes[-1] / width.sizes[0]:g} times as many neurons the FFN takes "
            f"{number(f'{_slower(width, 1):.1f} times')} as long, on {WIDTH_TOKENS} tokens."
        )
        runs = f"{RUNS} runs of each size, on random inputs: the sentence makes no difference."
        return first, curves(width, "d_ff", Head(sentence, "width", colour, under=runs))

    longer = Soon("growth", "How the time grows with the number of tokens")
    return Sheet([measured_row("growth", setup, both, cards, (longer, wider))])


def both(run: Run, progress: Progress) -> Iterator[tuple[Growth, Growth | None]]:
    """Both measurements, one after the other."""
    model = ours(run.model)
    length = grow_with_length(model, 0, RUNS, lambda share: progress(LENGTH_SHARE * share))
    yield length, None
    rest = 1 - LENGTH_SHARE
    yield length, grow_with_width(model, RUNS, lambda share: progress(LENGTH_SHARE + rest * share))


def _slower(grown: Growth, batch: int) -> float:
    """How many times as long the FFN takes at the largest size as at the smallest."""
    times = grown.times[f"FFN, batch {batch}"]
    return times[-1].median / times[0].median


def curves(grown: Growth, what: str, head: Head) -> Cell:
    """One quantity's curves."""
    times = {name: [s.quartiles for s in spreads] for name, spreads in grown.times.items()}
    figure = figures.growth(grown.sizes, times, what, head.accent)
    alt = f"Time against {what}, for batches of 1 and 32."
    return chart_cell(head, figure, alt, key=f"growth-{head.note}", height=560)


SHORT = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short(count: float) -> str:
    """A large count in three digits: 2.10 M."""
    for size, letter in SHORT:
        if count >= size:
            return f"{count / size:.3g} {letter}"
    return f"{count:,.0f}"


def costs_figure(
    parameters: Mapping[str, int], multiply_adds: Mapping[str, int], twin: str
) -> Figure:
    """Two panels of bars, a bar a part, the FFN in the accent."""
    parts = list(parameters)
    kinds, traces = {"parameters": parameters, "multiply-adds": multiply_adds}, []
    colours = [f"@{twin}" if part == "FFN" else "@muted" for part in parts]
    looks = {"orientation": "h", "textposition": "outside", "cliponaxis": False}
    looks |= {"textfont": {"size": 17}, "hoverinfo": "none"}
    for place, (name, counts) in enumerate(kinds.items(), 1):
        values = np.array([float(counts[part]) for part in parts])
        shares = values / values.sum()
        said = [percent(share).replace("<", "&lt;") for share in shares]
        text = [f"{short(v)} <b>{share}</b>" for v, share in zip(values, said, strict=True)]
        meta = {"counts": [counts[part] for part in parts], "labels": [], "named": "part"}
        on = {"xaxis": f"x{place}", "yaxis": f"y{place}", "meta": meta, "text": text}
        traces.append(plot.bar_trace(name, shares * 100, parts, colours, **on, **looks))
    titles = [
        plot.panel_title(f"<b>{short(sum(parameters.values()))}</b> parameters", 0),
        plot.panel_title(f"<b>{short(sum(multiply_adds.values()))}</b> multiply-adds", 0.56),
    ]
    # As far as the longest bar, and room for the words behind it.
    longest = max(max(trace["x"]) for trace in traces)
    hidden = {"range": [0, 1.9 * longest], "showticklabels": False}
    rows = {"autorange": "reversed", "showgrid": False}
    return plot.figure(
        traces,
        plot.bare_axis("% of all", domain=[0, 0.46], **hidden),
        plot.axis("", **rows),
        xaxis2=plot.bare_axis("% of all", domain=[0.56, 1], anchor="y2", **hidden),
        yaxis2=plot.axis("", anchor="x2", showticklabels=False, **rows),
        annotations=titles,
        meta={"panels": 2},
        showlegend=False,
        bargap=0.3,
        margin={"l": 104, "r": 10, "t": 36, "b": 40},
    )


def share_figure(
    lengths: Array, shares: Array, now: tuple[float, float], overtaken: float, twin: str
) -> Figure:
    """The FFNs' share of the multiply-adds, with the present length and where it is a half."""
    crossing = [overtaken] if lengths[0] <= overtaken <= lengths[-1] else []
    return plot.figure(
        [
            plot.line_trace("FFN", lengths, 100 * shares, f"@{twin}", 4, fill="tozeroy",
                            fillcolor=f"@{twin}/0.18",
                            hovertemplate="%{y:.1f}% at %{x:,.0f} tokens<extra></extra>"),
            plot.dots("now", np.array([now[0]]), np.array([100 * now[1]]),
                      {"size": 15, "color": "@text"}, hoverinfo="skip"),
            {"type": "scatter", "mode": "markers+text", "name": "attention overtakes",
             "x": np.array(crossing), "y": np.full(len(crossing), 50.0),
             "text": [f"  n = {place:,.0f}" for place in crossing],
             "textposition": "middle right" if overtaken < 3_000 else "middle left",
             "textfont": {"size": 17}, "hoverinfo": "skip",
             "marker": {"size": 15, "symbol": "x", "color": "@text"}},
        ],
        plot.axis("sequence length n, tokens", type="log", dtick=1,
                  range=[float(np.log10(lengths[0])), float(np.log10(lengths[-1]))]),
        plot.axis("FFN, % of the blocks", range=[0, 100], dtick=25),
        showlegend=False,
        margin={"l": 70, "r": 20, "t": 12, "b": 56},
    )  # fmt: skip


PRESET = choice_setting("preset", {name: preset.name for name, preset in PRESETS.items()})
KINDS = {"preset": "as preset", "plain": "plain: two matrices", "gated": "gated: three"}
GATED = choice_setting("gated", KINDS)


def _size(name: str, label: str, *stops: int, also: tuple[str, ...] = ()) -> Setting[int]:
    # 0 stands for what the preset has.
    return count_setting(name, 0, 0, 1_000_000, also).with_control(label, stops, "{:,}".format)


SIZES = {
    "d_model": _size("d_model", "d_model, width of the stream", 64, 128, 256, 384, 512, 768, 1024,
                     1536, 2048, 3072, 4096, 6144, 8192),
    "d_ff": _size("d_ff", "d_ff, hidden neurons", 64, 128, 256, 512, 768, 1024, 1536, 2048, 3072,
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
    preset = PRESETS[values[PRESET]]
    changed: dict[str, Any] = {name: values[size] for name, size in SIZES.items() if values[size]}
    if values[GATED] != "preset":
        changed["gated"] = values[GATED] == "gated"
    shape = replace(preset.shape, **changed)
    cells = costs(run, preset, shape), share_against_length(run, shape)
    return Sheet([row(*cells, widths=(1.3,))], what_to_count(values, shape))


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
        Choice(
            "Start from", list(PRESET.options.values()), start_from, names.index(values[PRESET])
        ),
        Choice("FFN", [GATED.options["plain"], GATED.options["gated"]], gate, int(shape.gated)),
        *(slider(name, size) for name, size in SIZES.items()),
    ]


def costs(run: Run, preset: Preset, shape: Shape) -> Cell:
    """Parameters and multiply-adds, part by part."""
    count, work, sizes = parameters(shape), multiply_adds(shape), memory(shape)
    share, busy = (parts["FFN"] / sum(parts.values()) for parts in (count, work))
    sentence = (
        f"{preset.name}, with these sizes: the FFNs hold {number(percent(share))} of the "
        f"parameters and do {percent(busy)} of the multiply-adds for "
        f"{counted(shape.n_tokens, 'token')}."
    )
    width, rest = divmod(shape.d_model, shape.n_heads)
    cross = f", {shape.n_cross} of them with cross-attention" if shape.n_cross else ""
    heads = f"each head is {width} wide"
    if rest:
        heads = f"{shape.d_model} cannot be split evenly among {shape.n_heads} heads"
    under = (
        f"Weights: {short(sizes['float32'])}B in float32, {short(sizes['float16'])}B in float16 "
        f"or bfloat16. {counted(shape.n_blocks, 'block')}{cross}; {heads}. {preset.name}: "
        f"{preset.source}."
    )
    head = Head(sentence, "costs", run.card.colour, under=under)
    alt = "Parameters and multiply-adds of embedding, attention, FFN, LayerNorm and output."
    return chart_cell(head, costs_figure(count, work, run.card.colour), alt, height=310)


def share_against_length(run: Run, shape: Shape) -> Cell:
    """The FFNs' share in a block as sequences grow."""
    overtaken = overtaking_length(shape)
    now = float(shape.n_tokens), ffn_share(shape, shape.n_tokens)
    where, share = "more than the FFNs at any length", number(percent(now[1]))
    if overtaken > 0:
        where = f"as much as the FFNs at {number(f'{overtaken:,.0f} tokens')}"
        share = percent(now[1])
    sentence = (
        f"Attention computes {where}; at {shape.n_tokens:,} the FFNs do {share} of the blocks' "
        "multiply-adds."
    )
    shares = np.array([ffn_share(shape, length) for length in LENGTHS])
    figure = share_figure(LENGTHS, shares, now, overtaken, run.card.colour)
    alt = "The FFNs' share of the multiply-adds against the length of the sequence."
    head = Head(sentence, "overtaking", run.card.colour)
    return chart_cell(head, figure, alt, key="share-against-length", height=330)
