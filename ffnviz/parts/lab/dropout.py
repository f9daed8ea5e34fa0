"""Dropout: repeated passes, their mean, and the pass without dropout."""

from collections.abc import Sequence

import numpy as np

from ffnviz.analysis.lab.residual import SEED, Dropout, try_dropout
from ffnviz.analysis.lab.residual import P as USUAL
from ffnviz.analysis.lab.residual import passes as passes_of
from ffnviz.parts.experiments import experiment_subject, verdicts_of
from ffnviz.parts.sheet import Button, Sheet, row, set_to
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, axis, bare_axis, figure, lines
from ffnviz.pictures.wording import Sentence, number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting, number_setting


def scattered(names: Sequence[str], outputs: Array, plain: Array, twin: str) -> Figure:
    """A column a component: a dot a pass, their mean, and the pass without dropout.

    Args:
        names: of the components.
        outputs: (n_passes, k).
        plain: without dropout, (k,).
        twin: the accent.
    """
    n, k = outputs.shape
    # Dots side by side, in an order that is always the same, so that they do not hide each other.
    aside = ((np.arange(n) * 0.618) % 1 - 0.5) * 0.62
    places = np.arange(k)
    return figure(
        [
            {"type": "scatter", "mode": "markers", "name": "a pass with dropout",
             "x": (places[None] + aside[:, None]).ravel(), "y": outputs.ravel(),
             "marker": {"color": f"@{twin}/0.35", "size": 5}, "hoverinfo": "none"},
            {"type": "scatter", "mode": "markers", "name": "their mean", "x": places,
             "y": outputs.mean(axis=0),
             "marker": {"color": f"@{twin}", "size": 16, "symbol": "diamond",
                        "line": {"color": "@background", "width": 2}}},
            {"type": "scatter", "mode": "markers", "name": "without dropout", "x": places,
             "y": plain, "marker": {"color": "@text", "size": 34, "symbol": "line-ew-open",
                                    "line": {"width": 4}}},
        ],
        bare_axis("component of the FFN's output", tickvals=places, ticktext=list(names),
                  range=[-0.6, k - 0.4]),
        axis("its value"),
    )  # fmt: skip


STOPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
P = number_setting("p", USUAL, STOPS[0], STOPS[-1]).with_control(
    "dropout p", STOPS, lambda stop: f"{stop:g}"
)
DRAWS = 9_999
DRAW = count_setting("draw", 1, 1, DRAWS)
SETTINGS = (P, DRAW)


def sheet(run: Run, values: Values) -> Sheet:
    """The passes, and how their mean settles, over the verdicts."""
    p, draw = values[P], values[DRAW]
    subject = experiment_subject(run)
    judged = run.subject.per_sentence(
        ("dropout", run.state.block, run.token, p), lambda: passes_of(subject, p)
    )
    result = try_dropout(subject, p, seed=SEED + draw - 1, judged=judged)
    pictures = passes(run, result, p), settling(run, result), word(run, result)
    again = Button("Draw again", set_to(DRAW, draw % DRAWS + 1))
    verdicts = verdicts_of(run, "lab-dropout", result.findings)
    return Sheet([row(*pictures), row(verdicts)], (P, again))


def passes(run: Run, result: Dropout, p: float) -> Cell:
    """The passes' outputs, for the components that vary most."""
    sentence: Sentence = [
        number(f"{result.n} passes"), f" with p = {p:g}: the FFN's output at ",
        quoted(run.labels[run.token]), " scatters around the pass without dropout.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "lab-passes", run.card.colour),
        scattered([str(k) for k in result.components], result.outputs, result.plain,
                  run.card.colour),
        "The output's components that vary most, pass by pass, with their mean.",
        height=650,
    )  # fmt: skip


def settling(run: Run, result: Dropout) -> Cell:
    """How the mean of the passes settles."""
    counts = np.unique(np.geomspace(1, result.n, 40).round().astype(int))
    shares = result.running[counts - 1]
    expected = shares[0] / np.sqrt(counts)
    sentence: Sentence = [
        "One pass is off by ", number(percent(float(shares[0]))),
        f", the mean of all by {percent(float(shares[-1]))} of the output's norm.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "lab-settling", run.card.colour),
        lines(
            counts,
            {"mean of so many passes": (100 * shares, f"@{run.card.colour}", "solid"),
             "1/√n": (100 * expected, "@muted", "dot")},
            axis("passes, logarithmic", type="log", dtick=1),
            axis("off by, %", type="log", dtick=1),
        ),
        "How far the mean of the first passes is from the pass without dropout.",
        height=320,
    )  # fmt: skip


def word(run: Run, result: Dropout) -> Cell:
    """The likeliest word's probability over the passes."""
    edges = np.linspace(0, max(0.01, float(result.probabilities.max()) * 1.05), 31)
    counts, _ = np.histogram(result.probabilities, edges)
    plain = 100 * result.probability
    sentence: Sentence = [
        f"{run.model.tokenizer.label(result.word)} has {plain:.1f}% without dropout, ",
        number(f"{result.probabilities.mean():.1%}"), " on average with it.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "lab-word-spread", run.card.colour),
        lines(
            100 * (edges[1:] + edges[:-1]) / 2,
            {"passes": (counts.astype(float), f"@{run.card.colour}", "solid")},
            axis("probability of the likeliest word, %"), axis("passes", rangemode="tozero"),
            shapes=[{"type": "line", "x0": plain, "x1": plain, "y0": 0, "y1": 1, "yref": "paper",
                     "line": {"color": "@text", "width": 2, "dash": "dot"}}],
            margin={"l": 70, "r": 16, "t": 10, "b": 56},
        ),
        "How the likeliest word's probability scatters over the passes; dotted: without dropout.",
        height=270,
    )  # fmt: skip
