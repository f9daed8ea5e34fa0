"""Active neurons: their share on each token in each block, before and after training."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.sparsity import (
    TrainingRecord,
    awake,
    record_of,
    share_against_threshold,
    threshold_for,
)
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, Series, Trace
from ffnviz.pictures.wording import Sentence, listed, number, percent
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, number_slider


def reached(trace: ForwardPass, block: int) -> tuple[Array, NDArray[np.int64]]:
    """The share above zero on any of the first t = 1 … T tokens, (T,), and the neurons on none.

    For a gated neuron the gate counts, as the sign of its hidden value also depends on what φ is
    multiplied by.
    """
    above = trace.blocks[block].ffn.above_zero  # (T, d_ff)
    so_far = (above.cumsum(dim=0) > 0).cpu().numpy()
    return so_far.mean(axis=-1), np.flatnonzero(~so_far[-1])


def reached_figure(
    shares: Mapping[Series, Array], ceilings: Mapping[Series, float], labels: Sequence[str]
) -> Figure:
    """Neurons above zero so far, a line a network; dotted, what whole books of tokens reach."""
    x, ends = np.arange(len(labels)), np.array([-0.6, len(labels) - 0.4])
    hover = "%{y:.1f}% reached<extra>%{fullData.name}</extra>"
    looks = {"mode": "lines+markers", "hovertemplate": hover}
    traces, lines = [], []
    for series, y in shares.items():
        line = {"color": f"@{series.colour}", "width": 4, "shape": "hv"}
        name = plot.escaped(series.label)
        traces.append(plot.dots(name, x, 100 * y, {"size": 9}, line=line, **looks))
    for series, share in ceilings.items():
        name = f"{plot.escaped(series.label)}, on whole books: {percent(share)}"
        level, colour = np.full(2, 100 * share), f"@{series.colour}"
        lines.append(plot.line_trace(name, ends, level, colour, 2, "dot", hoverinfo="skip"))
    return plot.figure(
        [*traces, *lines],
        plot.token_axis(labels),
        plot.axis("% of neurons above zero at least once", range=[0, 104]),
    )


# Share of units above zero in large trained models: Li et al. 2022, arXiv:2210.06313.
PUBLISHED_SHARES = {"T5-Base": 3.0, "ViT-B/16": 6.3}
DOMAINS = ((0.46, 0.95), (0, 0.35))
DASHES = ("solid", "dot", "dash", "longdash")


def birth(
    tokens: NDArray[np.integer], panels: Sequence[tuple[str, Mapping[tuple[Series, int], Array]]]
) -> Figure:
    """Percentages over the tokens seen, from 0, the first and last point marked, in two panels."""
    millions, ends = tokens / 1e6, np.zeros(len(tokens))
    ends[[0, -1]] = 11
    hover = "%{y:.3g} at %{x:.1f} million tokens<extra>%{fullData.name}</extra>"
    traces: list[Trace] = []
    axes, titles = {}, []
    for place, (title, curves) in enumerate(panels):
        y = f"y{place + 1}"
        for (series, block), values in curves.items():
            name = f"{plot.escaped(series.label)}, block {block + 1}"
            colour, dash = f"@{series.colour}", DASHES[block % len(DASHES)]
            looks: plot.Options = {"mode": "lines+markers", "yaxis": y, "showlegend": place == 0}
            looks |= {"marker": {"size": ends, "color": colour}, "hovertemplate": hover}
            traces.append(plot.line_trace(name, millions, values, colour, 3, dash, **looks))
        axes[f"yaxis{place + 1}"] = plot.axis(
            "%", domain=list(DOMAINS[place]), rangemode="tozero", nticks=4
        )
        titles.append(plot.panel_title(title, 0, DOMAINS[place][1]))
    # The share falls to a seventh: only a logarithmic axis keeps its end apart from nothing.
    axes["yaxis1"] |= {"type": "log", "tickvals": [3, 6, 12, 25, 50], "range": [0.35, 1.8]}
    reach = [-0.02 * float(millions[-1]), 1.02 * float(millions[-1])]
    line = {"color": "@muted", "width": 1.5, "dash": "dashdot"}
    across = {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "yref": "y", "line": line}
    bands = [{**across, "y0": value, "y1": value} for value in PUBLISHED_SHARES.values()]
    at_right = {"x": 1, "xref": "paper", "xanchor": "right", "yref": "y", "yanchor": "top"}
    written = {**at_right, "showarrow": False, "font": {"size": 16}}
    notes = [
        {**written, "text": f"{name} {value:g}% (published)", "y": float(np.log10(value))}
        for name, value in PUBLISHED_SHARES.items()
    ]
    return plot.figure(
        traces,
        plot.axis("million tokens seen", range=reach, anchor=f"y{len(panels)}"),
        axes.pop("yaxis1"),
        **axes,
        shapes=bands,
        annotations=[*titles, *notes],
    )


PUBLISHED = (
    "The published shares are of T5-Base and ViT-B/16 (Li et al. 2022, arXiv:2210.06313). Both "
    "differ from ours in size, data and length of training; we do not know which of these makes "
    "them sparser."
)
SHOWN = 40  # neurons by their numbers


def record(run: Run, _: Values) -> Sheet:
    """Both networks' records in one picture."""
    records = {traced.card: record_of(traced.network) for traced in run.both}
    own = records[run.card]
    lines = [(card, block) for card in records for block in range(own.above_zero.shape[1])]
    above = {(card, block): 100 * records[card].above_zero[:, block] for card, block in lines}
    never = {(card, block): 100 * records[card].never[:, block] for card, block in lines}
    of_never = "neurons above zero on none of these tokens"
    head = Head(_sentence(own, run), "birth", run.card.colour, under=PUBLISHED)
    figure = birth(own.tokens, [("activations above zero", above), (of_never, never)])
    alt = (
        "The share of activations above zero, and of neurons that never are, from the first step "
        "of training to the last, for each network."
    )
    return Sheet([row(chart_cell(head, figure, alt, height=600))])


def _sentence(record: TrainingRecord, run: Run) -> Sentence:
    block = run.state.block
    shares = record.above_zero[:, block]
    least = int(shares.argmin())
    sentence = (
        f"Before training, {percent(shares[0])} of the activations in {run.card.label}'s block "
        f"{block + 1} were above zero (on {record.n_tokens:,} tokens of unseen books). After "
        f"{record.tokens[-1] / 1e6:.1f} million training tokens {number(percent(shares[-1]))} are"
    )
    if shares[least] < shares[-1]:
        low = f"{percent(shares[least])}, at {record.tokens[least] / 1e6:.1f} million"
        sentence += f"; the least was {low}"
    return f"{sentence}. Nothing in the loss asks for this."


def dead(run: Run, _: Values) -> Sheet:
    """How many neurons each token adds, and the numbers of those that no book activates."""
    block, here, d_ff = run.state.block, run.card, run.model.sizes.d_ff
    records = {traced.card: record_of(traced.network) for traced in run.both}
    reach = {traced.card: reached(traced.trace, block) for traced in run.both}
    never = {card: record.final_never[block] for card, record in records.items()}
    under = ""
    for card, units in never.items():
        shown = ", ".join(map(str, units[:SHOWN])) or "none"
        more = f" and {len(units) - SHOWN:,} more" if len(units) > SHOWN else ""
        under += (
            f"{card.label}, block {block + 1}, never above zero on "
            f"{records[card].final_n_tokens:,} tokens of books it did not train on: {shown}{more}. "
        )
    on_none, in_books = len(reach[here][1]), len(never[here])
    books = "each rises above zero in some book."
    if in_books:
        books = f"on no token of whole books, {in_books:,} ({percent(in_books / d_ff)})."
    neurons = number(f"{on_none:,} of {d_ff:,} neurons ({percent(on_none / d_ff)})")
    sentence = (
        f"In block {block + 1} of {here.label}, {neurons} {'is' if on_none == 1 else 'are'} above "
        f"zero on no token of this sentence; {books}"
    )
    figure = reached_figure(
        {card: shares for card, (shares, _) in reach.items()},
        {card: 1 - len(units) / d_ff for card, units in never.items()},
        run.labels,
    )
    alt = "The share of neurons above zero at least once, token after token, for each network."
    chart = chart_cell(Head(sentence, "never", here.colour, under=under), figure, alt, height=560)
    return Sheet([row(chart)])


LOOKS = {True: ("solid", "circle", 3), False: ("dot", "circle-open", 1.5)}


def awake_by_token(
    shares: Mapping[tuple[Series, bool], Array],  # (network, trained) → awake, (n_blocks, T)
    labels: Sequence[str],
    token: int,
    d_ff: int,
    first: int = 0,  # the block that the first panel shows, from 0
    suffix: str = "",  # of the panels' titles, where another network's block is another one
) -> Figure:
    """A panel a block, a line a network, trained and untrained."""
    n_blocks = len(next(iter(shares.values())))
    height = 1 / n_blocks
    places = np.arange(len(labels))
    traces: list[Trace] = []
    axes, titles = {}, []
    top = 75 if max(float(each.max()) for each in shares.values()) <= 0.75 else 100
    for block in range(n_blocks):
        bottom = 1 - (block + 1) * height
        axes[f"yaxis{block + 1}"] = plot.axis(
            "% active", domain=[bottom + 0.04, bottom + height - 0.08], range=[0, top], dtick=25
        )
        for (series, trained), by_block in shares.items():
            dash, symbol, width = LOOKS[trained]
            name = plot.escaped(series.label) + " untrained" * (not trained)
            traces.append(plot.line_trace(
                name, places, 100 * by_block[block], f"@{series.colour}", width, dash,
                mode="lines+markers", yaxis=f"y{block + 1}", customdata=places,
                legendgroup=f"{series.label}{trained}", showlegend=block == 0,
                meta={"counts": np.rint(d_ff * by_block[block]).astype(int).tolist()},
                marker={"color": f"@{series.colour}", "symbol": symbol, "size": 9},
                hovertemplate="%{y:.1f}%<extra>%{fullData.name}</extra>",
            ))  # fmt: skip
        title = f"block {first + block + 1}{plot.escaped(suffix)}"
        titles.append(plot.panel_title(title, 0, 1 - block * height - 0.08))
    return plot.figure(
        traces,
        plot.token_axis(labels, anchor=f"y{n_blocks}"),
        axes.pop("yaxis1"),
        **axes,
        shapes=[plot.band(token - 0.5, token + 0.5)],
        annotations=titles,
    )


def threshold_figure(x: Array, shares: Mapping[Series, Array], threshold: float) -> Figure:
    """The share of values beyond a threshold, a curve a network, the slider's place marked."""
    hover = "%{y:.1f}% beyond %{x:.3g}<extra></extra>"
    traces = []
    for series, y in shares.items():
        name, colour = plot.escaped(series.label), f"@{series.colour}"
        traces.append(plot.line_trace(name, x, 100 * y, colour, 4, hovertemplate=hover))
    return plot.figure(
        traces,
        plot.axis("threshold on |hidden|", type="log", dtick=1),
        plot.axis("% of values beyond it", range=[0, 102]),
        shapes=[plot.vertical_line(threshold)],
    )


STOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
CURVE = np.geomspace(0.001, 10, 81)
MOST_BLOCKS = 4  # of which each has a panel; of more, the chosen one has
ACTIVE = "neuron is active if it is further from zero than"
THRESHOLD = number_slider("threshold", 0.1, STOPS, f"A {ACTIVE}")


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
    sentence = (
        f"In block {block + 1} of {here.label}, {number(percent(shares[here, True][at].mean()))} "
        "of the neurons are active on a token, on average"
    )
    if (here, False) in shares:
        before = percent(shares[here, False][at].mean())
        sentence += f"; before training, {before} were"
    figure = awake_by_token(shares, run.labels, run.token, d_ff, block - at, beside)
    alt = (
        "The share of neurons active on each token, in each block, for each network, trained "
        "and untrained."
    )
    head = Head(f"{sentence}.", "awake", here.colour)
    return chart_cell(head, figure, alt, height=690, on_choose=ChooseToken)


def against_threshold(run: Run, threshold: float) -> Cell:
    """How the share depends on what counts as near zero."""
    curves = {
        each.card: share_against_threshold(each.trace, run.block_of(each), CURVE)
        for each in run.both
    }
    parts: list[str] = []
    for card, shares in curves.items():
        share = percent(np.interp(threshold, CURVE, shares))
        told = share if parts else number(share, card.colour)
        parts.append(f"{told} of {card.label}'s activations")
    sentence = f"{listed(parts)} are further than {threshold:g} from zero."
    figure = threshold_figure(CURVE, curves, threshold)
    alt = "The share of hidden values beyond a threshold, for thresholds from 0.001 to 10."
    return chart_cell(
        Head(sentence, "threshold", "text"), figure, alt, key="against-threshold", height=600
    )
