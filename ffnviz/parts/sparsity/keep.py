"""Keep the top k: what the strongest neurons carry, and what is said without the rest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ffnviz.analysis.lab.width import SHARES, Width, try_width
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.neurons.memory import row_norms
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import Prediction, likeliest, predict
from ffnviz.analysis.sparsity import active, threshold_for
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.experiments import cached_result, experiment_subject, verdicts_of
from ffnviz.parts.guess import guess_cell
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, Series
from ffnviz.pictures.text import table_cell
from ffnviz.pictures.wording import counted, listed, number, percent, quoted
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.settings import Values, nearest, number_slider

LEFTS = [100 * share for share in SHARES[::-1]]
LEFT = number_slider("left", 10, LEFTS, "neurons left in every block", "{:g}%")
WIDTH_SETTINGS = (LEFT,)


def width_sheet(run: Run, values: Values) -> Sheet:
    """The curve and the words over the verdicts; of other networks they take a while."""
    share = values[LEFT] / 100
    if run.card.ours:
        return Sheet(cut_to(run, cached_result(run, "width", try_width), share))
    state = run.state
    setup = (run.card.id, run.device, state.block, run.token, state.sentence, state.special)

    def after(measured: Measured[Width]) -> list[Row]:
        return cut_to(run, measured.result, share)

    moves = Soon("lab-width-curve", "How far the prediction moves with fewer neurons")
    says = Soon("lab-width-words", "What the network predicts then")
    before, doing = [row(moves, says, widths=(0.8, 1.2))], f"{2 * len(SHARES)} passes …"
    return Sheet([Measurement("width", setup, cut, after, (), before, "Cut again", doing)])


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
    sentence = (
        f"With {cut.d_ff:,} neurons in each block the prediction moves by "
        f"{number(f'{short(cut.divergence)} nats')} if they are the most important, and by "
        f"{short(random.divergence)} nats if they are drawn at random."
    )
    widths = np.array([each.d_ff for each in width.important])
    by_importance = np.array([each.divergence for each in width.important])
    at_random = np.array([each.divergence for each in width.random])
    series = {
        "in order of importance": (by_importance, f"@{run.card.colour}", "solid"),
        "at random": (at_random, "@muted", "dash"),
    }
    marks = [int(n) for n in widths[::2]]
    named = [f"{n:,}" for n in marks]
    left = plot.axis("d_ff left, logarithmic", type="log", tickvals=marks, ticktext=named)
    moved = plot.axis("divergence, nats", rangemode="tozero")
    figure = plot.lines(widths, series, left, moved, shapes=[plot.vertical_line(cut.d_ff)])
    alt = "How far the prediction moves as neurons are removed, by importance and at random."
    head = Head(sentence, "lab-width-curve", run.card.colour)
    return chart_cell(head, figure, alt, key="lab-width", height=560)


def words(run: Run, width: Width, place: int) -> Cell:
    """The likeliest words: uncut, cut by importance, cut at random."""
    whole, cut, random = width.important[0], width.important[place], width.random[place]
    sentence = (
        f"At {quoted(run.labels[run.token])} the likeliest word is "
        f"{quoted(whole.prediction.words[0])}; with the most important "
        f"{percent(cut.d_ff / whole.d_ff)} of the neurons left it is "
        f"{number(f'“{cut.prediction.words[0]}”')}."
    )
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
    return table_cell("lab-saved", Head("", "", run.card.colour), ["one FFN", *d_ff, "saved"], rows)


NEEDS = (Capability.WORD_HEAD,)
RANDOM_SEED = 0
WORDS = 10  # that are predicted


@dataclass(frozen=True)
class Kept:
    """One block's FFN with all but n neurons of each token set to zero."""

    error: float  # ‖output − full output‖ / ‖full output‖ at the chosen token
    prediction: Prediction  # at the chosen token


@dataclass(frozen=True)
class KeptPass:
    """The pass with all but n neurons of each token set to zero in one block's FFN."""

    errors: Tensor  # ‖output − full output‖ / ‖full output‖ of each token, (T,)
    stream: Tensor  # the last, (T, d_model)


def strengths(model: Network, trace: ForwardPass, block: int) -> Tensor:
    """|hidden| · ‖value‖: the norm of every term of the output (Geva et al. 2021), (T, d_ff)."""
    return trace.blocks[block].ffn.hidden.abs() * row_norms(model.ffn(block).values)


@torch.no_grad()
def concentration(model: Network, trace: ForwardPass, block: int) -> Array:
    """The share of Σ |hidden| · ‖value‖ that each token's n strongest neurons carry, (d_ff,)."""
    ordered = strengths(model, trace, block).sort(dim=-1, descending=True).values  # (T, d_ff)
    by_rank = ordered.sum(dim=0).cpu().double().cumsum(dim=0)
    return (by_rank / by_rank[-1].clamp_min(1e-30)).numpy()


def strongest_pass(model: Network, trace: ForwardPass, block: int, n: int) -> KeptPass:
    """Set all but the n strongest neurons of each token to zero."""
    return _pass(model, trace, block, n, strengths(model, trace, block))


def random_pass(model: Network, trace: ForwardPass, block: int, n: int) -> KeptPass:
    """Set all but n random active neurons of each token to zero, the same ones every time.

    Where fewer than n are active, the others follow: a draw from all would mostly draw zeros.
    """
    hidden = trace.blocks[block].ffn.hidden
    order = torch.rand(hidden.shape, generator=torch.Generator().manual_seed(RANDOM_SEED))
    awake = active(hidden, threshold_for(model.ffn(block).phi))
    return _pass(model, trace, block, n, order.to(model.device) + awake)


@torch.no_grad()
def kept_at(model: Network, kept: KeptPass, token: int) -> Kept:
    """What such a pass comes to at a token."""
    return Kept(
        float(kept.errors[token]), likeliest(model, model.logits(kept.stream[token]), WORDS)
    )


@torch.no_grad()
def _pass(model: Network, trace: ForwardPass, block: int, n: int, ranked_by: Tensor) -> KeptPass:
    require(model, NEEDS)
    record = trace.blocks[block].ffn
    d_ff = record.hidden.shape[-1]
    if not 1 <= n <= d_ff:
        raise ValueError(f"{n} neurons cannot be kept: give from 1 to d_ff = {d_ff}.")
    kept = ranked_by.topk(n, dim=-1).indices  # (T, n)
    hidden = torch.zeros_like(record.hidden).scatter(-1, kept, record.hidden.gather(-1, kept))
    output = model.ffn(block).write(hidden)  # (T, d_ff) -> (T, d_model)
    full = record.output
    errors = (output - full).norm(dim=-1) / full.norm(dim=-1).clamp_min(1e-30)
    return KeptPass(errors, model.stream_with(trace, block, output))


PERCENTS = np.geomspace(0.1, 100, 61)


def concentration_figure(curves: Mapping[Series, Array], kept: float) -> Figure:
    """A curve a network: the share that its strongest 1 … d_ff neurons carry; `kept` is marked."""
    hover = "strongest %{x:.2g}% carry %{y:.0f}%<extra></extra>"
    traces = []
    for series, shares in curves.items():
        carried = np.interp(PERCENTS / 100 * len(shares), np.arange(len(shares) + 1), [0, *shares])
        name, colour = plot.escaped(series.label), f"@{series.colour}"
        traces.append(
            plot.line_trace(name, PERCENTS, 100 * carried, colour, 4, hovertemplate=hover)
        )
    title, ticks = "strongest % of each token's neurons", [0.1, 0.5, 1, 5, 10, 50, 100]
    return plot.figure(
        traces,
        plot.axis(title, type="log", tickvals=ticks, range=[-1, 2]),
        plot.axis("% of what is written", range=[0, 102]),
        shapes=[plot.vertical_line(100 * kept)],
    )


STOPS = (0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100)
KEPT = number_slider("keep", 5, STOPS, "Keep the strongest neurons", "{:g}%")


def sheet(run: Run, values: Values) -> Sheet:
    """The curve beside what the network then says."""
    share = values[KEPT] / 100
    return Sheet([row(what_they_carry(run, share), what_is_said(run, share), widths=(1, 1.5))])


def what_they_carry(run: Run, share: float) -> Cell:
    """The share of the written norms that the strongest neurons carry."""
    block = run.state.block
    curves = {traced.card: carried_by(traced, run.block_of(traced)) for traced in run.both}
    parts = []
    for card, shares in curves.items():
        carried = percent(shares[_count(share, len(shares)) - 1])
        told = number(carried, card.colour) if card is run.card else carried
        parts.append(f"{told} of what {card.label} writes")
    start = f"Each token's strongest {100 * share:g}% of block {block + 1}'s neurons carry"
    sentence = f"{start} {listed(parts)}."
    figure = concentration_figure(curves, share)
    alt = "The share of what each network's FFN writes that its strongest neurons carry."
    return chart_cell(Head(sentence, "concentration", "text"), figure, alt, height=600)


def carried_by(traced: TracedModel, block: int) -> Array:
    """The share that the n strongest neurons carry, for every n, (d_ff,); no token changes it."""
    return traced.per_sentence(
        ("concentration", block), lambda: concentration(traced.network, traced.trace, block)
    )


def kept(run: Run, keep: Callable[[Network, ForwardPass, int, int], KeptPass], n: int) -> Kept:
    """What such a pass comes to at the chosen token; no token changes the pass."""
    block = run.state.block
    done = run.subject.per_sentence(
        (keep.__name__, block, n), lambda: keep(run.model, run.whole, block, n)
    )
    return kept_at(run.model, done, run.place)


def what_is_said(run: Run, share: float) -> Cell:
    """The likeliest words with all neurons, the strongest, and as many random active ones."""
    token, accent = run.token, run.card.colour
    n = _count(share, run.model.sizes.d_ff)
    prediction = predict(run.model, run.trace, token)
    strongest, random = (kept(run, keep, n) for keep in (strongest_pass, random_pass))
    sentence = (
        f"With only each token's {counted(n, 'strongest neuron')} the FFN's output at "
        f"{quoted(run.labels[token])} is off by {number(percent(strongest.error))}; with "
        f"{counted(n, 'active one')} drawn at random, by {percent(random.error)}."
    )
    guesses = [
        ("all neurons", prediction, accent),
        (f"strongest {n:,}\noff by {percent(strongest.error)}", strongest.prediction, "text"),
        (f"{n:,} random active\noff by {percent(random.error)}", random.prediction, "muted"),
    ]
    alt = "The ten likeliest words with all neurons, the strongest, and random active ones."
    return guess_cell(run, sentence, "keep", guesses, alt, "keep-words")


def _count(share: float, d_ff: int) -> int:
    return max(1, round(share * d_ff))
