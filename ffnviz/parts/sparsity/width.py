"""A narrower FFN: neurons removed from every block in order of importance."""

import numpy as np

from ffnviz.analysis.lab.width import SHARES, Cut, Width, try_width
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.parts.experiments import cached_result, experiment_subject, verdicts_of
from ffnviz.parts.guess import guess_cell
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import axis, lines
from ffnviz.pictures.text import table_cell
from ffnviz.pictures.wording import Sentence, number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, nearest, number_setting

LEFT = number_setting("left", 10, 100 * SHARES[-1], 100).with_control(
    "neurons left in every block", [100 * share for share in SHARES[::-1]], "{:g}%".format
)
SETTINGS = (LEFT,)


def sheet(run: Run, values: Values) -> Sheet:
    """The curve and the words over the verdicts; of other networks they take a while."""
    share = values[LEFT] / 100
    if run.card.ours:
        return Sheet(cut_to(run, cached_result(run, "width", try_width), share))
    state = run.state
    setup = (run.card.id, run.device, state.block, run.token, state.sentence, state.special)

    def after(measured: Measured[Width]) -> list[Row]:
        return cut_to(run, measured.result, share)

    before = [row(Soon("lab-width-curve", "How far the prediction moves with fewer neurons"),
                  Soon("lab-width-words", "What the network predicts then"),
                  widths=(0.8, 1.2))]  # fmt: skip
    return Sheet([Measurement("width", setup, cut, after, before=before, label="Cut again",
                              doing=f"{2 * len(SHARES)} passes …")])  # fmt: skip


def cut_to(run: Run, width: Width, share: float) -> list[Row]:
    """What is left at the width nearest to a share of all neurons."""
    place = nearest(SHARES, share)
    verdicts = verdicts_of(run, "lab-width", width.findings)
    return [
        row(curve(run, width, place), words(run, width, place), widths=(0.8, 1.2)),
        row(verdicts, saved(run, width, place), widths=(1.6, 1)),
    ]


def cut(run: Run, progress: Progress) -> Width:  # noqa: ARG001
    """The network at all widths."""
    return try_width(experiment_subject(run))


def curve(run: Run, width: Width, place: int) -> Cell:
    """How far the prediction moves, against d_ff."""
    cut, random = width.important[place], width.random[place]
    sentence: Sentence = [
        f"With {cut.d_ff:,} neurons in each block the prediction moves by ", number(_nats(cut)),
        f" if they are the most important, and by {_nats(random)} if they are drawn at random.",
    ]  # fmt: skip
    widths = np.array([each.d_ff for each in width.important])
    series = {
        "in order of importance": (_divergences(width.important), f"@{run.card.colour}", "solid"),
        "at random": (_divergences(width.random), "@muted", "dash"),
    }
    marks = [int(n) for n in widths[::2]]
    return chart_cell(
        Head(sentence, "lab-width-curve", run.card.colour),
        lines(
            widths, series,
            axis("d_ff left, logarithmic", type="log", tickvals=marks,
                 ticktext=[f"{n:,}" for n in marks]),
            axis("divergence, nats", rangemode="tozero"),
            shapes=[{"type": "line", "x0": cut.d_ff, "x1": cut.d_ff, "y0": 0, "y1": 1,
                     "yref": "paper", "line": {"color": "@text", "width": 2, "dash": "dot"}}],
        ),
        "How far the prediction moves as neurons are removed, by importance and at random.",
        key="lab-width",
        height=560,
    )  # fmt: skip


def words(run: Run, width: Width, place: int) -> Cell:
    """The likeliest words: uncut, cut by importance, cut at random."""
    whole, cut, random = width.important[0], width.important[place], width.random[place]
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]),
        f" the likeliest word is {whole.prediction.words[0]}; with the most important "
        f"{percent(cut.d_ff / whole.d_ff)} left it is ",
        number(cut.prediction.words[0]), ".",
    ]  # fmt: skip
    guesses = [
        (f"all {whole.d_ff:,}", whole.prediction, run.card.colour),
        (f"the most important {cut.d_ff:,}", cut.prediction, "text"),
        (f"{random.d_ff:,} at random", random.prediction, "muted"),
    ]
    alt = "The likeliest words with all neurons, with the most important, and with random ones."
    return guess_cell(run, sentence, "lab-width-words", guesses, alt)


def saved(run: Run, width: Width, place: int) -> Cell:
    """What the cut saves."""
    counts = {"parameters": width.parameters, "multiply-adds per token": width.multiply_adds}
    rows = [
        (name, f"{n[0]:,}", f"{n[place]:,}", percent(float(1 - n[place] / n[0])))
        for name, n in counts.items()
    ]
    d_ff = [f"d_ff {width.important[at].d_ff:,}" for at in (0, place)]
    return table_cell("lab-saved", Head([], "", run.card.colour), ["one FFN", *d_ff, "saved"], rows)


def _divergences(cuts: tuple[Cut, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([cut.divergence for cut in cuts])


def _nats(cut: Cut) -> str:
    return f"{short(cut.divergence)} nats"
