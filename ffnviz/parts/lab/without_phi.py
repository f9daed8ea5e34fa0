"""Without φ: the FFN as one matrix, and what the network predicts then."""

import numpy as np

from ffnviz.analysis.lab.bend_deleted import (
    WITHOUT_PHI,
    WithoutPhi,
    fold,
    passes_without,
    remove_phi,
)
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.parts.experiments import (
    cached_for_block,
    cached_result,
    experiment_subject,
    verdicts_of,
)
from ffnviz.parts.guess import guess_cell
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import axis, lines
from ffnviz.pictures.wording import number, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values


def sheet(run: Run, _: Values) -> Sheet:
    """Four predictions over the verdicts and the folded matrix."""
    setup = (run.card.id, run.device, run.state.block, run.state.sentence, run.token)

    def after(measured: Measured[WithoutPhi]) -> list[Row]:
        result = measured.result
        verdicts = verdicts_of(run, "lab-bend", result.findings)
        below = row(verdicts, spectrum(run, result), widths=(2.4, 1))
        return [row(predictions(run, result)), below]

    above = Soon("lab-without", "What the network predicts without φ, FFNs or attention", 270)
    verdicts = Soon("lab-bend", "What textbooks say of it", 210)
    below = row(verdicts, Soon("lab-folded", "The one matrix left", 210), widths=(2.4, 1))
    before = [row(above), below]
    doing = "Folding W₁ and W₂, and counting dimensions with φ and without …"
    return Sheet(
        [Measurement("bend", setup, without_phi, after, (), before, "Remove φ", doing, once=True)]
    )


def without_phi(run: Run, progress: Progress = lambda _: None) -> WithoutPhi:
    """The experiment; the matrix is folded once per network, the passes made once per sentence."""
    name = f"folded {run.state.block}"
    matrix = run.subject.per_network(name, lambda: fold(experiment_subject(run).double.ffn))
    progress(0.8)
    passes = cached_for_block(
        run, ("passes without φ",), lambda subject: passes_without(subject, matrix)
    )
    return cached_result(
        run, "without φ", lambda subject: remove_phi(subject, folded=matrix, passes=passes)
    )


def predictions(run: Run, result: WithoutPhi) -> Cell:
    """What the network predicts as it is, without φ, without FFNs, without attention."""
    sentence = (
        "Without φ in any block, the network predicts "
        f"{number(f'“{result.predictions[WITHOUT_PHI].words[0]}”')} at "
        f"{quoted(run.labels[run.token])}, with φ {quoted(result.plain.words[0])}: "
        f"{short(result.divergences[WITHOUT_PHI])} nats apart."
    )
    guesses = [("as it is", result.plain, run.card.colour)]
    for name, guess in result.predictions.items():
        title = f"{name}\n{short(result.divergences[name])} nats"
        guesses.append((title, guess, "text" if name == WITHOUT_PHI else "muted"))
    alt = "Likeliest words: as it is, without φ, without any FFN and without any attention."
    return guess_cell(run, sentence, "lab-without", guesses, alt)


def spectrum(run: Run, result: WithoutPhi) -> Cell:
    """The folded matrix's singular values."""
    values = result.singular
    sentence = f"The one matrix left has {number(f'rank {result.rank} of {len(values)}')}."
    places = np.arange(0, len(values), max(1, len(values) // 64))
    figure = lines(
        places + 1,
        {"W₁W₂": (values[places], f"@{run.card.colour}", "solid")},
        axis("number"),
        axis("singular value", rangemode="tozero"),
        margin={"l": 70, "r": 16, "t": 10, "b": 56},
    )
    alt = "The singular values of the folded matrix."
    return chart_cell(Head(sentence, "lab-folded", run.card.colour), figure, alt, height=210)
