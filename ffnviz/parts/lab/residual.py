"""Residual and LayerNorm: what is added to the stream, and where LayerNorm is placed."""

import numpy as np

from ffnviz.analysis.lab.residual import (
    D_FF,
    D_MODEL,
    DEEPEST,
    DEPTH,
    SEEDS,
    Residual,
    try_residual,
)
from ffnviz.analysis.measuring import Progress
from ffnviz.parts.experiments import experiment_subject, verdicts_of
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import axis, escaped, grouped, lines, shortened
from ffnviz.pictures.wording import Sentence, number, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting

STOPS = (2, 3, 4, 6, 8, 12, 16, 20, DEEPEST)
LAYERS = count_setting("layers", DEPTH, 2, DEEPEST).with_control(
    "layers of the untrained stacks", STOPS
)
SETTINGS = (LAYERS,)
MOST_TOKENS = 40


def sheet(run: Run, values: Values) -> Sheet:
    """The stream's norms and two untrained stacks over the verdicts."""
    depth = values[LAYERS]
    setup = (run.card.id, run.device, run.state.sentence, run.state.special, depth)

    def after(measured: Measured[Residual]) -> list[Row]:
        residual = measured.result
        verdicts = verdicts_of(run, "lab-residual", residual.findings)
        return [
            row(norms(run, residual), directions(run, residual)),
            row(gradients(run, residual, depth), verdicts, widths=(1, 1.3)),
        ]

    before = [
        row(Soon("lab-norms", "How much each layer adds to the stream", 325),
            Soon("lab-cosines", "How far each block turns the stream", 325)),
        row(Soon("lab-gradients", "How the gradient fades with pre-LN and post-LN", 290),
            Soon("lab-residual", "What textbooks say of it", 150), widths=(1, 1.3)),
    ]  # fmt: skip
    doing = f"Differentiating untrained stacks of {depth} layers …"
    return Sheet([
        Measurement("residual", setup, measure, after, (depth,), before, "Differentiate", doing,
                    once=True)
    ])  # fmt: skip


def measure(run: Run, progress: Progress, depth: int) -> Residual:
    """What is added to the stream of this sentence, and the gradients of untrained stacks."""
    return try_residual(experiment_subject(run), depth, progress)


def norms(run: Run, residual: Residual) -> Cell:
    """What each sub-layer adds, as a share of the stream, per token."""
    labels = _labels(run)
    last = list(residual.added)[-1]
    sentence: Sentence = [
        f"{last} adds ", number(f"{residual.added[last][run.token]:.2f} × the stream"), " at ",
        quoted(run.labels[run.token]), f", {residual.added[last].mean():.2f} × on average.",
    ]  # fmt: skip
    colours = ["@muted", f"@{run.card.colour}/0.45", "@text", f"@{run.card.colour}"]
    series = {
        name.replace("attention", "attn"): (values[: len(labels)], colours[place % len(colours)])
        for place, (name, values) in enumerate(residual.added.items())
    }
    return chart_cell(
        Head(sentence, "lab-norms", run.card.colour),
        grouped(labels, series, "added / stream, logarithmic", type="log", dtick=1,
                exponentformat="power"),
        "The norm of what each sub-layer adds, against the stream's, for each token.",
        height=325,
    )  # fmt: skip


def directions(run: Run, residual: Residual) -> Cell:
    """The cosine between each block's input and output, per token."""
    labels = _labels(run)
    last = len(residual.cosines)
    sentence: Sentence = []
    for block, cosines in ((last, residual.cosines[-1]), (1, residual.cosines[0]))[:last]:
        angle = f"{np.degrees(np.arccos(np.clip(float(cosines.mean()), -1, 1))):.0f}°"
        sentence += [f", block {block} by {angle}"] if sentence else [
            f"Block {block} turns the stream by ", number(angle),
        ]  # fmt: skip
    sentence.append(".")
    series = {
        f"block {k}": (row[: len(labels)], f"@{run.card.colour}" if k == last else "@muted")
        for k, row in enumerate(residual.cosines, start=1)
    }
    return chart_cell(
        Head(sentence, "lab-cosines", run.card.colour),
        grouped(labels, series, "cosine", range=[min(0.0, float(residual.cosines.min())), 1.05]),
        "The cosine between each block's input and its output, for each token.",
        height=325,
    )


def gradients(run: Run, residual: Residual, depth: int) -> Cell:
    """Gradient norms per layer of the two stacks."""
    pre, post = (residual.gradients[name].mean(axis=0) for name in ("pre-LN", "post-LN"))
    sentence: Sentence = [
        f"Untrained, the gradient at layer {depth} is ", number(f"{pre[-1]:.2f}"),
        f" with pre-LN, {post[-1]:.2f} with post-LN.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "lab-gradients", run.card.colour,
             under=[f"Stacks of d_model {D_MODEL} and d_ff {D_FF}: means of {len(SEEDS)} draws."]),
        lines(
            np.arange(1, depth + 1),
            {"pre-LN": (pre, f"@{run.card.colour}", "solid"),
             "post-LN": (post, "@muted", "dash")},
            axis("layer"), axis("‖gradient of W₂‖", rangemode="tozero"),
        ),
        "The gradient's norm at each layer of an untrained pre-LN and an untrained post-LN stack.",
        height=290,
    )  # fmt: skip


def _labels(run: Run) -> list[str]:
    return [escaped(shortened(label, 9)) for label in run.labels[:MOST_TOKENS]]
