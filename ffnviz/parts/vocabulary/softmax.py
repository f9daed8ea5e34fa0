"""From logits to words: the whole softmax, and where temperature, top-k and top-p cut it."""

import numpy as np
import streamlit as st

from ffnviz.analysis.vocabulary.decoding import Distribution, Strategy, distribution, entropy, pick
from ffnviz.figures.vocabulary.distribution import distribution as distribution_figure
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.parts.guess import under_guess
from ffnviz.parts.part import Navigator, live
from ffnviz.parts.vocabulary.strategy import controls, strategy
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

NAMED = 60
BARS = 10


@live
def render(run: Run, navigator: Navigator) -> None:
    """The controls, the whole distribution, and its first words."""
    how = strategy(navigator)
    logits = run.trace.logits_at(run.token).cpu().numpy()  # (vocab_size,)
    told = distribution(logits, how)
    set_, curve, words = st.columns([0.8, 1.3, 1.3], gap="medium")
    with set_:
        controls(navigator, "softmax")
    with curve:
        whole_distribution(run, told, how)
    with words:
        first_words(run, told, how)


def whole_distribution(run: Run, told: Distribution, how: Strategy) -> None:
    """Every entry of the vocabulary, sorted."""
    n = len(told.softmax)
    sentence: Sentence = [
        f"{n:,} probabilities sum to ", number(f"{told.softmax.sum():.6f}"), "; their entropy is ",
        number(f"{entropy(told.softmax):.2f} bits"), f" of at most {np.log2(n):.0f}.",
    ]  # fmt: skip
    chart(
        Head(sentence, "distribution", run.card.colour),
        distribution_figure(
            told.softmax[told.order],
            told.cut[told.order],
            told.n_kept,
            [run.model.tokenizer.label(int(entry)) for entry in told.order[:NAMED]],
            run.card.colour,
        ),
        "All probabilities of the vocabulary from the likeliest to the least likely.",
        f"{run.stamp} {how}",
        key="distribution",
        height=660,
    )


def first_words(run: Run, told: Distribution, how: Strategy) -> None:
    """The likeliest words before the cut and after it."""
    first = told.order[:BARS]
    words = [run.model.tokenizer.label(int(entry)) for entry in first]
    at: Sentence = ["At ", quoted(run.labels[run.token])]
    if told.n_kept == len(told.order):
        cut: Sentence = [" nothing is cut: all ", number(f"{told.n_kept:,} words"), " stay"]
    else:
        kept = f"{told.n_kept:,} words" if told.n_kept > 1 else "1 word"
        cut = [" the cut keeps ", number(kept), ", which held ", number(percent(told.kept_share)),
               " of the probability"]  # fmt: skip
    picked = run.model.tokenizer.label(pick(told, how))
    sentence: Sentence = [*at, *cut, "; the pick is ", number(picked), "."]
    panels = [
        Words(f"softmax, temperature {how.temperature:g}", words, told.softmax[first], "@muted"),
        Words("after the cut", words, told.cut[first], f"@{run.card.colour}"),
    ]
    chart(
        Head(sentence, "cut", run.card.colour, under=under_guess(run)),
        word_bars(panels),
        "The ten likeliest words before the cut and after it.",
        f"{run.stamp} {how}",
        key="cut-words",
        height=660,
    )
