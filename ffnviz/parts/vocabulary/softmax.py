"""Softmax: from logits to words, and where temperature, top-k and top-p cut it."""

import numpy as np

from ffnviz.analysis.vocabulary.decoding import Distribution, Strategy, distribution, entropy, pick
from ffnviz.figures.vocabulary.distribution import distribution as distribution_figure
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Sheet, row
from ffnviz.parts.vocabulary.strategy import bars_of, controls, strategy
from ffnviz.pictures.bars import bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

NAMED = 60


def sheet(run: Run, values: Values) -> Sheet:
    """The whole distribution, and its first words."""
    how = strategy(values)
    logits = run.trace.logits_at(run.token).cpu().numpy()  # (vocab_size,)
    after = distribution(logits, how)
    return Sheet([row(whole_distribution(run, after), first_words(run, after, how))],
                 controls(values))  # fmt: skip


def whole_distribution(run: Run, after: Distribution) -> Cell:
    """Every entry of the vocabulary, sorted."""
    n = len(after.softmax)
    sentence: Sentence = [
        f"{n:,} probabilities sum to {after.softmax.sum():.6f}; their entropy is ",
        number(f"{entropy(after.softmax):.2f} bits"),
        f" of at most {np.log2(n):.0f}.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "distribution", run.card.colour),
        distribution_figure(
            after.softmax[after.order],
            after.cut[after.order],
            after.n_kept,
            [run.model.tokenizer.label(int(entry)) for entry in after.order[:NAMED]],
            run.card.colour,
        ),
        "All probabilities of the vocabulary from the likeliest to the least likely.",
        height=660,
    )


def first_words(run: Run, after: Distribution, how: Strategy) -> Cell:
    """The likeliest words before the cut and after it."""
    if after.n_kept == len(after.order):
        cut: Sentence = [f" nothing is cut: all {after.n_kept:,} words stay"]
    else:
        kept = f"{after.n_kept:,} words" if after.n_kept > 1 else "1 word"
        cut = [f" the cut keeps {kept}, which held {percent(after.kept_share)} of the probability"]
    picked = run.model.tokenizer.label(pick(after, how))
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]), *cut, "; the pick is ", number(picked), "."
    ]  # fmt: skip
    return bars_cell(
        Head(sentence, "cut", run.card.colour, under=under_guess(run)),
        bars_of(run, f"softmax, temperature {how.temperature:g}", after),
        key="cut-words",
        alt="The ten likeliest words before the cut and after it.",
    )
