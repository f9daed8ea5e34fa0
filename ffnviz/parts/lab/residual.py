"""Residual and LayerNorm: what is added to the stream, and where LayerNorm is placed."""

import numpy as np

from ffnviz.analysis.lab.residual import (
    D_FF,
    D_MODEL,
    DEEPEST,
    DEPTH,
    SEED,
    SEEDS,
    Dropout,
    Residual,
    try_dropout,
    try_residual,
)
from ffnviz.analysis.lab.residual import P as USUAL
from ffnviz.analysis.lab.residual import passes as passes_of
from ffnviz.analysis.measuring import Progress
from ffnviz.parts.experiments import experiment_subject, verdicts_of
from ffnviz.parts.sheet import Button, Measured, Measurement, Row, Sheet, Soon, row, set_to
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure
from ffnviz.pictures.wording import number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting, count_slider, number_slider


def scattered(result: Dropout, twin: str) -> Figure:
    """A column a component: a dot a pass, their mean, and the pass without dropout."""
    n, k = result.outputs.shape
    # Dots side by side, in an order that is always the same, so that they do not hide each other.
    aside = ((np.arange(n) * 0.618) % 1 - 0.5) * 0.62
    places = np.arange(k)
    return plot.figure(
        [
            plot.dots("a pass with dropout", (places[None] + aside[:, None]).ravel(),
                      result.outputs.ravel(), {"color": f"@{twin}/0.35", "size": 5},
                      hoverinfo="none"),
            plot.dots("their mean", places, result.outputs.mean(axis=0),
                      {"color": f"@{twin}", "size": 16, "symbol": "diamond",
                       "line": {"color": "@background", "width": 2}}),
            plot.dots("without dropout", places, result.plain,
                      {"color": "@text", "size": 34, "symbol": "line-ew-open",
                       "line": {"width": 4}}),
        ],
        plot.bare_axis("component of the FFN's output", range=[-0.6, k - 0.4], tickvals=places,
                       ticktext=[*map(str, result.components)]),
        plot.axis("its value"),
    )  # fmt: skip


RATES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
P = number_slider("p", USUAL, RATES, "dropout p")
DRAWS = 9_999
DRAW = count_setting("draw", 1, 1, DRAWS)
DROPOUT_SETTINGS = (P, DRAW)


def dropout_sheet(run: Run, values: Values) -> Sheet:
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
    sentence = (
        f"{number(f'{result.n} passes')} with p = {p:g}: the FFN's output at "
        f"{quoted(run.labels[run.token])} scatters around the pass without dropout."
    )
    figure = scattered(result, run.card.colour)
    alt = "The output's components that vary most, pass by pass, with their mean."
    return chart_cell(Head(sentence, "lab-passes", run.card.colour), figure, alt, height=650)


def settling(run: Run, result: Dropout) -> Cell:
    """How the mean of the passes settles."""
    counts = np.unique(np.geomspace(1, result.n, 40).round().astype(int))
    shares = result.running[counts - 1]
    expected = shares[0] / np.sqrt(counts)
    sentence = (
        f"One pass is off by {number(percent(float(shares[0])))}, the mean of all by "
        f"{percent(float(shares[-1]))} of the output's length."
    )
    figure = plot.lines(
        counts,
        {
            "mean of n passes": (100 * shares, f"@{run.card.colour}", "solid"),
            "1/√n": (100 * expected, "@muted", "dot"),
        },
        plot.axis("passes, logarithmic", type="log", dtick=1),
        plot.axis("off by, %", type="log", dtick=1),
    )
    alt = "How far the mean of the first passes is from the pass without dropout."
    return chart_cell(Head(sentence, "lab-settling", run.card.colour), figure, alt, height=320)


def word(run: Run, result: Dropout) -> Cell:
    """The likeliest word's probability over the passes."""
    edges = np.linspace(0, max(0.01, float(result.probabilities.max()) * 1.05), 31)
    counts, _ = np.histogram(result.probabilities, edges)
    plain = 100 * result.probability
    sentence = (
        f"{quoted(run.model.tokenizer.label(result.word))} has {plain:.1f}% without dropout, "
        f"{number(f'{result.probabilities.mean():.1%}')} on average with it."
    )
    figure = plot.lines(
        100 * (edges[1:] + edges[:-1]) / 2,
        {"passes": (counts.astype(float), f"@{run.card.colour}", "solid")},
        plot.axis("probability of the likeliest word, %"),
        plot.axis("passes", rangemode="tozero"),
        shapes=[plot.vertical_line(plain)],
        margin={"l": 70, "r": 16, "t": 10, "b": 56},
    )
    alt = "How the likeliest word's probability scatters over the passes; dotted: without dropout."
    return chart_cell(Head(sentence, "lab-word-spread", run.card.colour), figure, alt, height=270)


STOPS = (2, 3, 4, 6, 8, 12, 16, 20, DEEPEST)
LAYERS = count_slider("layers", DEPTH, STOPS, "blocks of the untrained stacks")
SETTINGS = (LAYERS,)
MOST_TOKENS = 40


def sheet(run: Run, values: Values) -> Sheet:
    """The stream's norms and two untrained stacks over the verdicts."""
    depth = values[LAYERS]
    setup = (run.card.id, run.device, run.state.sentence, run.state.special, depth)

    def after(measured: Measured[Residual]) -> list[Row]:
        residual = measured.result
        verdicts = verdicts_of(run, "lab-residual", residual.findings)
        above = row(norms(run, residual), directions(run, residual))
        return [above, row(gradients(run, residual, depth), verdicts, widths=(1, 1.3))]

    added = Soon("lab-norms", "How much each part adds to the stream", 325)
    turned = Soon("lab-cosines", "How far each block turns the stream", 325)
    fades = Soon("lab-gradients", "How the gradient fades with pre-LN and post-LN", 290)
    verdicts = Soon("lab-residual", "What textbooks say of it", 150)
    before = [row(added, turned), row(fades, verdicts, widths=(1, 1.3))]
    doing = f"Computing the gradients of untrained stacks of {depth} blocks …"
    label = "Differentiate"
    return Sheet(
        [Measurement("residual", setup, measure, after, (depth,), before, label, doing, once=True)]
    )


def measure(run: Run, progress: Progress, depth: int) -> Residual:
    """What is added to the stream of this sentence, and the gradients of untrained stacks."""
    return try_residual(experiment_subject(run), depth, progress)


def norms(run: Run, residual: Residual) -> Cell:
    """What each sub-layer adds, as a share of the stream, per token."""
    labels = _labels(run)
    last = list(residual.added)[-1]
    sentence = (
        f"{last} adds a vector {number(f'{residual.added[last][run.token]:.2f} times')} as long as "
        f"the stream at {quoted(run.labels[run.token])}, {residual.added[last].mean():.2f} times "
        "on average."
    )
    colours = ["@muted", f"@{run.card.colour}/0.45", "@text", f"@{run.card.colour}"]
    series = {
        name.replace("attention", "attn"): (values[: len(labels)], colours[place % len(colours)])
        for place, (name, values) in enumerate(residual.added.items())
    }
    scale = {"type": "log", "dtick": 1, "exponentformat": "power"}
    figure = plot.grouped(labels, series, "added / stream, logarithmic", **scale)
    alt = "The length of what each part adds, against the stream's, for each token."
    return chart_cell(Head(sentence, "lab-norms", run.card.colour), figure, alt, height=325)


def directions(run: Run, residual: Residual) -> Cell:
    """The cosine between each block's input and output, per token."""
    labels = _labels(run)
    last = len(residual.cosines)
    sentence = ""
    for block, cosines in ((last, residual.cosines[-1]), (1, residual.cosines[0]))[:last]:
        angle = f"{np.degrees(np.arccos(np.clip(float(cosines.mean()), -1, 1))):.0f}°"
        turns = f"Block {block} turns the stream by {number(angle)}"
        sentence += f", block {block} by {angle}" if sentence else turns
    sentence += "."
    series = {
        f"block {k}": (row[: len(labels)], f"@{run.card.colour}" if k == last else "@muted")
        for k, row in enumerate(residual.cosines, start=1)
    }
    figure = plot.grouped(
        labels, series, "cosine", range=[min(0.0, float(residual.cosines.min())), 1.05]
    )
    alt = "The cosine between each block's input and its output, for each token."
    return chart_cell(Head(sentence, "lab-cosines", run.card.colour), figure, alt, height=325)


def gradients(run: Run, residual: Residual, depth: int) -> Cell:
    """Gradient norms per block of the two stacks."""
    pre, post = (residual.gradients[name].mean(axis=0) for name in ("pre-LN", "post-LN"))
    sentence = (
        f"Before training, the gradient at block {depth} is {number(f'{pre[-1]:.2f}')} with "
        f"pre-LN, {post[-1]:.2f} with post-LN."
    )
    return chart_cell(
        Head(
            sentence,
            "lab-gradients",
            run.card.colour,
            under=f"Stacks of d_model {D_MODEL} and d_ff {D_FF}: means of {len(SEEDS)} draws.",
        ),
        plot.lines(
            np.arange(1, depth + 1),
            {"pre-LN": (pre, f"@{run.card.colour}", "solid"), "post-LN": (post, "@muted", "dash")},
            plot.axis("block"),
            plot.axis("‖gradient of W₂‖", rangemode="tozero"),
        ),
        "The gradient's norm at each block of an untrained pre-LN and an untrained post-LN stack.",
        height=290,
    )


def _labels(run: Run) -> list[str]:
    return [plot.escaped(plot.shortened(label, 9)) for label in run.labels[:MOST_TOKENS]]
