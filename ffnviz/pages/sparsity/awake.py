"""Who is awake: the share of neurons for each token and block, before and after training."""

import numpy as np
import streamlit as st

from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.analysis.threshold import share_against_threshold
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.components.slider import nearest, slider
from ffnviz.figures import awake as figures
from ffnviz.figures.style import palettes
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.page import Choices, live, number_setting
from ffnviz.run import Run

STOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
CURVE = np.geomspace(0.001, 10, 81)
THRESHOLD = number_setting("threshold", 0.1, STOPS[0], STOPS[-1])


@live
def render(run: Run, choices: Choices) -> None:
    """Both twins, trained and not, over the curve that the slider moves along."""
    threshold = choices.value(THRESHOLD)
    tokens, curve = st.columns([1.7, 1], gap="medium")
    with tokens:
        by_token(run, choices, threshold)
    with curve:
        against_threshold(run, threshold)
        slider(
            "GELU counts as awake where |hidden| is beyond",
            [f"{stop:g}" for stop in STOPS],
            nearest(STOPS, threshold, by_ratio=True),
            key="threshold",
            on_choose=lambda stop, done: choices.choose(THRESHOLD, STOPS[stop], done),
        )


def by_token(run: Run, choices: Choices, threshold: float) -> None:
    """Each token's share in each block."""
    shares = {}
    for twin, trace in run.traces.items():
        beyond = threshold if threshold_for(twin) else 0.0
        for trained, shown in ((True, trace), (False, run.untrained(twin))):
            shares[twin, trained] = np.array(
                [awake(shown, block, beyond).shares for block in range(len(shown.blocks))]
            )
    twin, block = run.request.twin, run.request.block
    now, before = (shares[twin, trained][block].mean() for trained in (True, False))
    sentence: Sentence = [f"In block {block + 1}, the trained {ACTIVATIONS[twin].label} twin has ",
                number(f"{percent(now)} of its neurons awake"), " on this sentence; with its "
                "random first weights it had ", number(percent(before)), "."]  # fmt: skip
    chart(
        Head(sentence, "awake", twin),
        figures.awake_by_token(shares, _names(), run.labels, run.token),
        "The share of neurons awake on each token, in each block, for both twins, trained and "
        "untrained.",
        palettes(),
        f"{run.stamp} {threshold}",
        key="awake",
        height=690,
        on_choose=choices.token,
    )


def against_threshold(run: Run, threshold: float) -> None:
    """How the share depends on what counts as near zero."""
    curves = {}
    for twin, trace in run.traces.items():
        beyond = share_against_threshold(trace, run.request.block, CURVE)
        curves[twin] = (beyond.thresholds, beyond.shares)
    at = {twin: np.interp(threshold, x, y) for twin, (x, y) in curves.items()}
    sentence: Sentence = ["Beyond ", number(f"{threshold:g}"), " lie ", number(percent(at["relu"])),
                " of ReLU's values and ", number(percent(at["gelu"])), " of GELU's."]  # fmt: skip
    chart(
        Head(sentence, "threshold", "text"),
        figures.share_against_threshold(curves, _names(), threshold),
        "The share of hidden values beyond a threshold, for thresholds from 0.001 to 10.",
        palettes(),
        f"{run.stamp} {threshold}",
        key="against-threshold",
        height=600,
    )


def _names() -> dict[str, str]:
    return {name: activation.label for name, activation in ACTIVATIONS.items()}
