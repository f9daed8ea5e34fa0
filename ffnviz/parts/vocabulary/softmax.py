"""Softmax: from logits to words, and where temperature, top-k and top-p cut it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ffnviz.analysis.writing import Distribution, Strategy, distribution, entropy, pick
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure, axis, escaped, figure, line_trace, vertical_line
from ffnviz.pictures.wording import counted, number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import (
    Setting,
    Values,
    choice_setting,
    count_setting,
    number_setting,
    number_slider,
)


def distribution_figure(after: Distribution, words: Sequence[str], twin: str) -> Figure:
    """Every entry of the vocabulary as a point of a falling line; what the cut leaves is filled."""
    softmax, kept = after.softmax[after.order], after.order[: after.n_kept]
    ranks = np.arange(1, len(softmax) + 1)
    least = max(float(np.log10(max(softmax.min(), 1e-12))), -9)
    return figure(
        [
            line_trace("softmax", ranks, np.maximum(100 * softmax, 1e-10), "@muted", 3,
                       text=[escaped(word) for word in words],
                       hovertemplate="%{text} %{y:.3g}%, rank %{x}<extra></extra>"),
            line_trace("after the cut", ranks[: len(kept)], 100 * after.cut[kept], f"@{twin}", 5,
                       hovertemplate="%{y:.3g}%, rank %{x}<extra></extra>"),
        ],
        axis("place of the word, the likeliest first", type="log", dtick=1,
             range=[-0.05, float(np.log10(len(ranks))) + 0.05]),
        axis("probability, %", type="log", range=[least + 2 - 0.2, 2.1],
             tickvals=[1e-6, 1e-4, 0.01, 1, 100],
             ticktext=["10⁻⁶", "10⁻⁴", "0.01", "1", "100"]),
        shapes=[vertical_line(len(kept) + 0.5, colour=f"@{twin}")],
    )  # fmt: skip


ALL = 1_000_000  # of any vocabulary
BARS = 10
TEMPERATURES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0)
TOP_KS = (1, 2, 3, 5, 10, 20, 40, 80, 160, 500, 1000, ALL)
TOP_PS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
TEMPERATURE = number_slider("temperature", 1, TEMPERATURES, "temperature")
TOP_K = count_setting("top_k", ALL, 1, ALL).with_control(
    "top-k: keep the k likeliest", TOP_KS, lambda stop: "all" if stop == ALL else str(stop)
)
TOP_P = number_setting("top_p", 1, TOP_PS[0], 1).with_control(
    "top-p: keep until p is reached", TOP_PS, lambda stop: "all" if stop == 1 else f"{stop:g}"
)
PICKS = {"likeliest": "likeliest", "chance": "by chance"}
PICK = choice_setting("pick", PICKS).with_control("Pick")
SEED = count_setting("seed", 1, 0, 999_999).with_control("Seed")
CUTS: tuple[Setting[Any], ...] = (TEMPERATURE, TOP_K, TOP_P, PICK, SEED)


def strategy(values: Values) -> Strategy:
    """The strategy that is set."""
    by_chance = values[PICK] == "chance"
    return Strategy(values[TEMPERATURE], values[TOP_K], values[TOP_P], by_chance, values[SEED])


def controls(values: Values) -> list[Setting[Any]]:
    """The controls in use; a slider also stops at a value that came with a link."""
    by_chance = values[PICK] == "chance"
    return [
        replace(each, stops=sorted({*each.stops, values[each]})) if each.stops else each
        for each in CUTS
        if each is not SEED or by_chance
    ]


def bars_of(run: Run, title: str, after: Distribution) -> list[Bars]:
    """The likeliest words before the cut, under a title, and after it."""
    first = after.order[:BARS]
    words = [run.model.tokenizer.label(int(entry)) for entry in first]
    return [
        Bars(title, words, after.softmax[first], "muted"),
        Bars("after the cut", words, after.cut[first], run.card.colour),
    ]


NAMED = 60


def sheet(run: Run, values: Values) -> Sheet:
    """The whole distribution, and its first words."""
    how = strategy(values)
    logits = run.trace.logits_at(run.token).cpu().numpy()  # (vocab_size,)
    after = distribution(logits, how)
    words = [run.model.tokenizer.label(int(entry)) for entry in after.order[:NAMED]]
    sentence = (
        f"{len(logits):,} probabilities sum to {after.softmax.sum():.6f}; their entropy is "
        f"{number(f'{entropy(after.softmax):.2f} bits')} of at most {np.log2(len(logits)):.0f}."
    )
    alt = "All probabilities of the vocabulary from the likeliest to the least likely."
    head = Head(sentence, "distribution", run.card.colour)
    drawn = distribution_figure(after, words, run.card.colour)
    whole = chart_cell(head, drawn, alt, height=660)
    return Sheet([row(whole, first_words(run, after, how))], controls(values))


def first_words(run: Run, after: Distribution, how: Strategy) -> Cell:
    """The likeliest words before the cut and after it."""
    if after.n_kept == len(after.order):
        cut = f" nothing is cut: all {after.n_kept:,} words stay"
    else:
        kept = counted(after.n_kept, "word")
        cut = f" the cut keeps {kept}, which held {percent(after.kept_share)} of the probability"
    picked = run.model.tokenizer.label(pick(after, how))
    sentence = f"At {quoted(run.labels[run.token])}{cut}; the pick is {number(f'“{picked}”')}."
    return bars_cell(
        Head(sentence, "cut", run.card.colour, under=under_guess(run)),
        bars_of(run, f"softmax, temperature {how.temperature:g}", after),
        key="cut-words",
        alt="The ten likeliest words before the cut and after it.",
    )
