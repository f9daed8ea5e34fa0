"""Grouped and depthwise 1 × 1 convolutions: fewer weights, and channels that no longer mix."""

from ffnviz.analysis.needs import ours
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.grouped import Grouped, group_numbers, grouped
from ffnviz.figures.timing import grouped as figures
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.parts.guess import guess_cell
from ffnviz.parts.results import REPEATS, measured_on
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting, nearest

GROUPS = count_setting("groups", 8, 1, 512)
SETTINGS = (REPEATS, GROUPS)


def sheet(run: Run, values: Values) -> Sheet:
    """The weights and channels left, beside the times and the words."""
    repeats, sizes = values[REPEATS], run.model.sizes
    setup = (run.card.id, run.state.sentence, run.device, run.state.block, run.token, repeats)
    numbers = group_numbers(sizes.d_model, sizes.d_ff)

    def after(measured: Measured[Grouped]) -> list[Row]:
        result = measured.result
        at = nearest(result.groups, values[GROUPS])
        right = [the_times(run, result, at, measured_on(measured))]
        if result.predictions:
            right.append(what_is_said(run, result, at))
        return [row(what_is_left(run, result, at), right)]

    times = [Soon("grouped-times", "How long they take", 290),
             Soon("grouped-words", "What the network predicts then", 180)]  # fmt: skip
    before = [row(Soon("grouped", "How many weights and channels groups leave", 590), times)]
    measurement = Measurement("grouped", setup, measure, after, (repeats, run.token), before)
    slider = GROUPS.with_control("groups", numbers, "{:,}".format)
    return Sheet([measurement], [REPEATS, slider])


def measure(run: Run, progress: Progress, repeats: int, token: int) -> Grouped:
    """Time the block's FFN in groups, on the sentence."""
    return grouped(ours(run.model), run.trace, run.state.block, token, repeats, progress)


def what_is_left(run: Run, result: Grouped, at: int) -> Cell:
    """Weights, channels seen and the output's error."""
    d_model, n = run.model.sizes.d_model, result.groups[at]
    n_inputs = round(result.reach[at] * d_model)
    sentence: Sentence = [
        f"{_name(n, d_model)}, an output channel sees {n_inputs:,} of {d_model:,} inputs, "
        f"{percent(float(result.weights[at] / result.weights[0]))} of the weights are left, and "
        "the output is off by ",
        number(percent(float(result.errors[at]))), ".",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "grouped", run.card.colour),
        figures.left(result.groups, result.weights / result.weights[0], result.reach,
                     result.reach_shuffled, result.errors, at, run.card.colour),
        "Weights, channels seen and the output's error against the number of groups.",
        height=590,
    )  # fmt: skip


def the_times(run: Run, result: Grouped, at: int, under: Sentence) -> Cell:
    """The time in groups against the whole."""
    times = [spread.median for spread in result.times]
    fewer = result.weights[0] / result.weights[at]
    sentence: Sentence = [
        f"With {fewer:,.0f} times fewer multiply-adds" if at else "As it is",
        " it takes ", number(f"{times[at]:.2f} ms"),
        f", {times[at] / times[0]:.2f} times as long as the whole FFN." if at else ".",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "grouped-times", run.card.colour, under=under),
        figures.times(result.groups, [s.quartiles for s in result.times], at, run.card.colour),
        "The time of the FFN against the number of groups.",
        height=290,
    )  # fmt: skip


def what_is_said(run: Run, result: Grouped, at: int) -> Cell:
    """The likeliest words with the whole FFN and in groups."""
    whole, cut, n = result.predictions[0], result.predictions[at], result.groups[at]
    name = f"{n:,} group{'s' * (n > 1)}"
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]), f" the network predicts {whole.words[0]}; "
        f"in {name}, ", number(cut.words[0]), ".",
    ]  # fmt: skip
    return guess_cell(
        run, sentence, "grouped-words",
        [("the whole FFN", whole, run.card.colour), (name, cut, "muted")],
        "The five likeliest words with the whole FFN and with the FFN in groups.",
    )  # fmt: skip


def _name(n: int, d_model: int) -> str:
    if n == 1:
        return "As it is"
    return f"Depthwise, in {n:,} groups" if n == d_model else f"In {n:,} groups"
