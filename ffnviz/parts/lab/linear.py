"""Is it linear? Additivity and scaling on every part of the block."""

import streamlit as st

from ffnviz.analysis.lab.linearity import Linearity, try_linearity
from ffnviz.figures.lab.linearity import off_linear
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.lab.subject import experiment_subject, show_verdicts, tally
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import number_setting

STOPS = (-3.0, -2.0, -1.0, -0.5, 0.1, 0.5, 0.9, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0)
FACTOR = number_setting("a", 2.0, STOPS[0], STOPS[-1])
SETTINGS = (FACTOR,)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The verdicts beside the bars and their slider."""
    factor = navigator.value(FACTOR) or FACTOR.default  # a factor of 0 tests nothing
    found = try_linearity(experiment_subject(run), factor)
    left, right = st.columns([1, 1.6], gap="medium")
    with left:
        show_verdicts(
            run,
            Head(tally(found.findings), "lab-linear", run.card.colour),
            found.findings,
            f"{factor:g}",
        )
    with right:
        bars(run, found, factor)
        slider(
            "factor a of f(a x) = a f(x)",
            [f"{stop:g}" for stop in STOPS],
            nearest(STOPS, factor),
            key="lab-factor",
            on_choose=lambda stop, done: navigator.choose(FACTOR, STOPS[stop], done),
        )


def bars(run: Run, found: Linearity, factor: float) -> None:
    """How far from linear each part is."""
    straight = [each.name for each in found.tried if each.check.passed]
    sentence: Sentence = [
        number(f"{len(straight)} of {len(found.tried)}"), " are linear up to their bias",
        f": {', '.join(straight)}." if straight else ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-tests", run.card.colour),
        off_linear(
            {each.name: (each.additivity, each.scaling) for each in found.tried},
            max(each.allowed for each in found.tried),
            ("additivity: f(x + y) = f(x) + f(y)", f"scaling: f({factor:g} x) = {factor:g} f(x)"),
            run.card.colour,
        ),
        "How far each part is from additivity and from scaling, on a logarithmic scale.",
        f"{run.stamp} {factor:g}",
        key="lab-linear",
        height=560,
    )
