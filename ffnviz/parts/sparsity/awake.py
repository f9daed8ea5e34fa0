"""Who is awake: the share of neurons for each token and block, before and after training."""

import numpy as np
import streamlit as st

from ffnviz.analysis.sparsity.awake import awake, threshold_for
from ffnviz.analysis.sparsity.threshold import share_against_threshold
from ffnviz.figures.sparsity import awake as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.settings import number_setting

STOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
CURVE = np.geomspace(0.001, 10, 81)
MOST_BLOCKS = 4  # of which each has a panel; of more, the chosen one has
THRESHOLD = number_setting("threshold", 0.1, STOPS[0], STOPS[-1])


@live
def render(run: Run, navigator: Navigator) -> None:
    """Each network, trained and not, over the curve that the slider moves along."""
    threshold = navigator.value(THRESHOLD)
    tokens, curve = st.columns([1.7, 1], gap="medium")
    with tokens:
        by_token(run, navigator, threshold)
    with curve:
        against_threshold(run, threshold)
        slider(
            f"A {_never_zero(run)} neuron is awake if it is further from zero than",
            [f"{stop:g}" for stop in STOPS],
            nearest(STOPS, threshold, by_ratio=True),
            key="threshold",
            on_choose=lambda stop, done: navigator.choose(THRESHOLD, STOPS[stop], done),
        )


def _never_zero(run: Run) -> str:
    """The φ that the threshold is for: the subject's, unless its zeros are exact."""
    traced = next(
        (traced for traced in (run.subject, *run.both) if threshold_for(traced.card.phi)),
        run.subject,
    )
    return traced.card.phi.label


def by_token(run: Run, navigator: Navigator, threshold: float) -> None:
    """Each token's share in each block."""
    shares, d_ff = {}, 0
    depths = {traced.network.sizes.n_blocks for traced in run.both}
    n_blocks = depths.pop() if len(depths) == 1 else MOST_BLOCKS + 1
    for traced in run.both:
        beyond = threshold if threshold_for(traced.card.phi) else 0.0
        passes = {True: traced.trace} | ({False: traced.untrained} if _began(traced) else {})
        which = range(n_blocks) if n_blocks <= MOST_BLOCKS else [run.block_of(traced)]
        for trained, shown in passes.items():
            counted = [awake(shown, block, beyond) for block in which]
            shares[traced.card, trained] = np.array(
                [c.shares[run.tokens_of(traced)] for c in counted]
            )
            d_ff = counted[0].d_ff if traced is run.subject else d_ff
    here, block = run.card, run.state.block
    at = block if n_blocks <= MOST_BLOCKS else 0
    beside = "".join(
        f", beside block {run.block_of(traced) + 1} of {traced.card.label}"
        for traced in run.both
        if run.block_of(traced) != block
    )
    sentence: Sentence = [f"In block {block + 1} of {here.label}, ",
                number(f"{percent(shares[here, True][at].mean())} of the neurons are awake"),
                " on this sentence"]  # fmt: skip
    if (here, False) in shares:
        before = percent(shares[here, False][at].mean())
        sentence += ["; before training it was ", number(before)]
    sentence.append(".")
    chart(
        Head(sentence, "awake", here.colour),
        figures.awake_by_token(shares, run.labels, run.token, d_ff, block - at, beside),
        "The share of neurons awake on each token, in each block, for each network, trained "
        "and untrained.",
        f"{run.stamp} {threshold}",
        key="awake",
        height=690,
        on_choose=lambda token: navigator.do(ChooseToken(token)),
    )


def _began(traced: TracedModel) -> bool:
    """Whether it is known how the network began."""
    return traced.card.provenance is not None and traced.card.provenance.seed is not None


def against_threshold(run: Run, threshold: float) -> None:
    """How the share depends on what counts as near zero."""
    curves = {}
    for traced in run.both:
        beyond = share_against_threshold(traced.trace, run.block_of(traced), CURVE)
        curves[traced.card] = (beyond.thresholds, beyond.shares)
    beyond_it = [
        part
        for traced, (x, y) in curves.items()
        for part in (
            number(percent(np.interp(threshold, x, y)), traced.colour),
            f" of {traced.label}'s activations",
            " and ",
        )
    ][:-1]
    sentence: Sentence = [*beyond_it, " are further than ", number(f"{threshold:g}"), " from zero."]
    chart(
        Head(sentence, "threshold", "text"),
        figures.share_against_threshold(curves, threshold),
        "The share of hidden values beyond a threshold, for thresholds from 0.001 to 10.",
        f"{run.stamp} {threshold}",
        key="against-threshold",
        height=600,
    )
