"""Active neurons: their share on each token in each block, before and after training."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ffnviz.analysis.sparsity.awake import awake, share_against_threshold, threshold_for
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import (
    Array,
    Figure,
    Series,
    Trace,
    axis,
    band,
    escaped,
    figure,
    line_trace,
    panel_title,
    token_axis,
    vertical_line,
)
from ffnviz.pictures.wording import Sentence, number, percent
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, number_setting

LOOKS = {True: ("solid", "circle", 3), False: ("dot", "circle-open", 1.5)}


def awake_by_token(
    shares: Mapping[tuple[Series, bool], Array],
    labels: Sequence[str],
    token: int,
    d_ff: int,
    first: int = 0,
    suffix: str = "",
) -> Figure:
    """A panel a block, a line a network, trained and untrained.

    Args:
        shares: a network and whether it is trained → shares awake, (n_blocks, T), from 0 to 1.
        labels: the tokens as typed.
        token: the chosen one.
        d_ff: of how many neurons these are shares.
        first: which block the first panel shows, from 0.
        suffix: of the panels' titles, where another network's block is another one.
    """
    n_blocks = len(next(iter(shares.values())))
    height = 1 / n_blocks
    places = np.arange(len(labels))
    traces: list[Trace] = []
    axes, titles = {}, []
    top = 75 if max(float(each.max()) for each in shares.values()) <= 0.75 else 100
    for block in range(n_blocks):
        bottom = 1 - (block + 1) * height
        axes[f"yaxis{block + 1}"] = axis(
            "% active", domain=[bottom + 0.04, bottom + height - 0.08], range=[0, top], dtick=25
        )
        for (series, trained), by_block in shares.items():
            dash, symbol, width = LOOKS[trained]
            name = escaped(series.label) + " untrained" * (not trained)
            traces.append(line_trace(
                name, places, 100 * by_block[block], f"@{series.colour}", width, dash,
                mode="lines+markers", yaxis=f"y{block + 1}", customdata=places,
                legendgroup=f"{series.label}{trained}", showlegend=block == 0,
                meta={"counts": np.rint(d_ff * by_block[block]).astype(int).tolist()},
                marker={"color": f"@{series.colour}", "symbol": symbol, "size": 9},
                hovertemplate="%{y:.1f}%<extra>%{fullData.name}</extra>",
            ))  # fmt: skip
        title = f"block {first + block + 1}{escaped(suffix)}"
        titles.append(panel_title(title, 0, 1 - block * height - 0.08))
    return figure(
        traces,
        token_axis(labels, anchor=f"y{n_blocks}"),
        axes.pop("yaxis1"),
        **axes,
        shapes=[band(token - 0.5, token + 0.5)],
        annotations=titles,
    )


def threshold_figure(curves: Mapping[Series, tuple[Array, Array]], threshold: float) -> Figure:
    """The share of values beyond a threshold, a curve a network, the slider's place marked."""
    return figure(
        [
            line_trace(escaped(series.label), x, 100 * y, f"@{series.colour}", 4,
                       hovertemplate="%{y:.1f}% beyond %{x:.3g}<extra></extra>")
            for series, (x, y) in curves.items()
        ],
        axis("threshold on |hidden|", type="log", dtick=1),
        axis("% of values beyond it", range=[0, 102]),
        shapes=[vertical_line(threshold)],
    )  # fmt: skip


STOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
CURVE = np.geomspace(0.001, 10, 81)
MOST_BLOCKS = 4  # of which each has a panel; of more, the chosen one has
ACTIVE = "neuron is active if it is further from zero than"
THRESHOLD = number_setting("threshold", 0.1, STOPS[0], STOPS[-1]).with_control(
    f"A {ACTIVE}", STOPS, "{:g}".format
)


def sheet(run: Run, values: Values) -> Sheet:
    """Each network, trained and not, beside the curve that the slider moves along."""
    threshold = values[THRESHOLD]
    cells = by_token(run, threshold), against_threshold(run, threshold)
    # The threshold is for the subject's φ, unless its zeros are exact.
    networks = run.subject, *run.both
    never_zero = next((n for n in networks if threshold_for(n.card.phi)), run.subject)
    slider = replace(THRESHOLD, label=f"A {never_zero.card.phi.label} {ACTIVE}")
    return Sheet([row(*cells, widths=(1.7, 1))], [slider])


def by_token(run: Run, threshold: float) -> Cell:
    """Each token's share in each block."""
    shares, d_ff = {}, run.model.sizes.d_ff
    depths = {traced.network.sizes.n_blocks for traced in run.both}
    n_blocks = depths.pop() if len(depths) == 1 else MOST_BLOCKS + 1
    for traced in run.both:
        beyond = threshold if threshold_for(traced.card.phi) else 0.0
        passes: dict[bool, ForwardPass] = {True: traced.trace}
        if traced.card.provenance is not None and traced.card.provenance.seed is not None:
            passes[False] = traced.untrained
        blocks = range(n_blocks) if n_blocks <= MOST_BLOCKS else [run.block_of(traced)]
        tokens = run.tokens_of(traced)
        for trained, trace in passes.items():
            shares[traced.card, trained] = np.array(
                [awake(trace, block, beyond).shares[tokens] for block in blocks]
            )
    here, block = run.card, run.state.block
    at = block if n_blocks <= MOST_BLOCKS else 0
    beside = "".join(
        f", beside block {run.block_of(traced) + 1} of {traced.card.label}"
        for traced in run.both
        if run.block_of(traced) != block
    )
    sentence: Sentence = [f"In block {block + 1} of {here.label}, ",
                number(percent(shares[here, True][at].mean())),
                " of the neurons are active on this sentence"]  # fmt: skip
    if (here, False) in shares:
        before = percent(shares[here, False][at].mean())
        sentence.append(f"; before training, {before} were")
    return chart_cell(
        Head([*sentence, "."], "awake", here.colour),
        awake_by_token(shares, run.labels, run.token, d_ff, block - at, beside),
        "The share of neurons active on each token, in each block, for each network, trained "
        "and untrained.",
        height=690,
        on_choose=ChooseToken,
    )


def against_threshold(run: Run, threshold: float) -> Cell:
    """How the share depends on what counts as near zero."""
    curves = {}
    sentence: Sentence = []
    for traced in run.both:
        shares = share_against_threshold(traced.trace, run.block_of(traced), CURVE)
        curves[traced.card] = (CURVE, shares)
        share = percent(np.interp(threshold, CURVE, shares))
        sentence += [" and "] if sentence else []
        sentence += [number(share, traced.card.colour) if traced is run.both[0] else share,
                     f" of {traced.card.label}'s activations"]  # fmt: skip
    sentence.append(f" are further than {threshold:g} from zero.")
    return chart_cell(
        Head(sentence, "threshold", "text"),
        threshold_figure(curves, threshold),
        "The share of hidden values beyond a threshold, for thresholds from 0.001 to 10.",
        key="against-threshold",
        height=600,
    )
