"""How the twins became sparse in training, and the neurons that are dead after it."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.sparsity.awake import TrainingRecord, record_of
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Head, Part
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import (
    Array,
    Figure,
    Series,
    Trace,
    axis,
    escaped,
    figure,
    line_trace,
    panel_title,
    token_axis,
)
from ffnviz.pictures.wording import Sentence, number, percent
from ffnviz.state.run import Run
from ffnviz.state.settings import Values


def reached(trace: ForwardPass, block: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The share of neurons above zero on any of the first t tokens, and those that never are.

    Above zero means the same for every φ here: φ(x) > 0 exactly where x > 0. For a gated neuron
    the gate counts, as the sign of its hidden value also depends on what φ is multiplied with.

    Returns:
        The shares for t = 1 … T, (T,), and the indices of the neurons above zero on no token.
    """
    above = trace.blocks[block].ffn.above_zero  # (T, d_ff)
    so_far = (above.cumsum(dim=0) > 0).cpu().numpy()
    return so_far.mean(axis=-1), np.flatnonzero(~so_far[-1])


def reached_figure(
    shares: Mapping[Series, Array], ceilings: Mapping[Series, float], labels: Sequence[str]
) -> Figure:
    """A rising line a network, and as a dotted line what thousands of book tokens reached.

    Args:
        shares: network → neurons above zero on any of the first t tokens, (T,), from 0 to 1.
        ceilings: network → neurons above zero on any token of the held-out books, from 0 to 1.
        labels: the tokens as typed.
    """
    x = np.arange(len(labels))
    traces = [
        {"type": "scatter", "mode": "lines+markers", "name": escaped(series.label),
         "x": x, "y": 100 * y,
         "line": {"color": f"@{series.colour}", "width": 4, "shape": "hv"}, "marker": {"size": 9},
         "hovertemplate": "%{y:.1f}% reached<extra>%{fullData.name}</extra>"}
        for series, y in shares.items()
    ]  # fmt: skip
    lines = [
        line_trace(f"{escaped(series.label)}, on whole books: {percent(y)}",
                   np.array([-0.6, len(labels) - 0.4]), np.full(2, 100 * y), f"@{series.colour}",
                   2, "dot", hoverinfo="skip")
        for series, y in ceilings.items()
    ]  # fmt: skip
    return figure(
        [*traces, *lines],
        token_axis(labels),
        axis("% of neurons above zero at least once", range=[0, 104]),
    )


# Share of units above zero in large trained models: Li et al. 2022, arXiv:2210.06313.
PUBLISHED_SHARES = {"T5-Base": 3.0, "ViT-B/16": 6.3}
DOMAINS = ((0.53, 0.95), (0.26, 0.43), (0, 0.17))
DASHES = ("solid", "dot", "dash", "longdash")


def birth(
    tokens: NDArray[np.integer],
    panels: Sequence[tuple[str, Mapping[tuple[Series, int], Array]]],
    loss: Mapping[Series, Array],
) -> Figure:
    """Curves over the tokens seen, the first and last point marked; three panels in all.

    Args:
        tokens: seen at each point, (n,), the first 0.
        panels: a title, and (network, block) → percent at each point, (n,).
        loss: network → loss at each point, in nats, (n,); the last panel.
    """
    millions = tokens / 1e6
    traces: list[Trace] = []
    axes, titles = {}, []
    for place, (title, curves) in enumerate(panels):
        y = f"y{place + 1}"
        for (series, block), values in curves.items():
            name, dash = f"{escaped(series.label)}, block {block + 1}", DASHES[block % len(DASHES)]
            traces.append(_curve(name, series.colour, millions, values, y, dash, place == 0))
        axes[f"yaxis{place + 1}"] = axis(
            "%", domain=list(DOMAINS[place]), rangemode="tozero", nticks=4
        )
        titles.append(panel_title(title, 0, DOMAINS[place][1]))
    # The share falls to a seventh: only a logarithmic axis keeps its end apart from nothing.
    axes["yaxis1"] |= {"type": "log", "tickvals": [3, 6, 12, 25, 50], "range": [0.35, 1.8]}
    last = len(panels) + 1
    for series, values in loss.items():
        name = f"{escaped(series.label)}, loss"
        traces.append(_curve(name, series.colour, millions, values, f"y{last}", "solid", False))
    axes[f"yaxis{last}"] = axis("nats", domain=list(DOMAINS[-1]), nticks=2)
    titles.append(panel_title("loss at masked words (the curves coincide)", 0, DOMAINS[-1][1]))
    reach = [-0.02 * float(millions[-1]), 1.02 * float(millions[-1])]
    bands = [
        {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": value, "y1": value, "yref": "y",
         "line": {"color": "@muted", "width": 1.5, "dash": "dashdot"}}
        for value in PUBLISHED_SHARES.values()
    ]  # fmt: skip
    notes = [
        {"text": f"{name} {value:g}% (published)", "x": 1, "xref": "paper", "xanchor": "right",
         "y": float(np.log10(value)), "yref": "y", "yanchor": "top", "showarrow": False,
         "font": {"size": 16}}
        for name, value in PUBLISHED_SHARES.items()
    ]  # fmt: skip
    return figure(
        traces,
        axis("million tokens seen", range=reach, anchor=f"y{last}"),
        axes.pop("yaxis1"),
        **axes,
        shapes=bands,
        annotations=[*titles, *notes],
    )


def _curve(
    name: str, accent: str, x: Array, y: Array, y_axis: str, dash: str, in_legend: bool
) -> Trace:
    ends = np.zeros(len(x))
    ends[[0, -1]] = 11
    hover = "%{y:.3g} at %{x:.1f} million tokens<extra>%{fullData.name}</extra>"
    return line_trace(name, x, y, f"@{accent}", 3, dash, mode="lines+markers", yaxis=y_axis,
                      showlegend=in_legend, marker={"size": ends, "color": f"@{accent}"},
                      hovertemplate=hover)  # fmt: skip


PUBLISHED = (
    "The published shares are of T5-Base and ViT-B/16 (Li et al. 2022, arXiv:2210.06313). Those "
    "networks differ in size, data and length of training; we do not know which of these makes "
    "them sparser.",
)
SHOWN = 40  # neurons by their numbers


def record(run: Run, values: Values) -> Sheet:  # noqa: ARG001
    """Both networks' records in one picture."""
    records = {traced.card: record_of(traced.network) for traced in run.both}
    own = records[run.card]
    lines = [(card, block) for card in records for block in range(own.above_zero.shape[1])]
    panels = [
        ("activations above zero",
         {(card, block): 100 * records[card].above_zero[:, block] for card, block in lines}),
        ("neurons above zero on none of these tokens",
         {(card, block): 100 * records[card].never[:, block] for card, block in lines}),
    ]  # fmt: skip
    chart = chart_cell(
        Head(_sentence(own, run), "birth", run.card.colour, under=PUBLISHED),
        birth(own.tokens, panels, {card: record.loss for card, record in records.items()}),
        "The share of activations above zero, of neurons that never are, and the loss, from the "
        "first step of training to the last, for each network.",
        height=600,
    )
    return Sheet([row(chart)])


def _sentence(record: TrainingRecord, run: Run) -> Sentence:
    block = run.state.block
    shares = record.above_zero[:, block]
    least = int(shares.argmin())
    sentence: Sentence = [
        f"Before training, {percent(shares[0])} of the activations in {run.card.label}'s block "
        f"{block + 1} were above zero, on {record.n_tokens:,} tokens of unseen books; after "
        f"{record.tokens[-1] / 1e6:.1f} million training tokens, ", number(percent(shares[-1])),
    ]  # fmt: skip
    if shares[least] < shares[-1]:
        low = f"{percent(shares[least])} at {record.tokens[least] / 1e6:.1f} million"
        sentence.append(f", after a low of {low}")
    return [*sentence, ". Nothing in the loss asks for this."]


def dead(run: Run, values: Values) -> Sheet:  # noqa: ARG001
    """How many neurons each token adds, and the numbers of those that no book activates."""
    block, here, d_ff = run.state.block, run.card, run.model.sizes.d_ff
    records = {traced.card: record_of(traced.network) for traced in run.both}
    reach = {traced.card: reached(traced.trace, block) for traced in run.both}
    never = {card: record.final_never[block] for card, record in records.items()}
    under: list[Part] = []
    for card, units in never.items():
        shown = ", ".join(map(str, units[:SHOWN])) or "none"
        more = f" and {len(units) - SHOWN:,} more" if len(units) > SHOWN else ""
        under.append(
            f"{card.label}, block {block + 1}, never above zero on "
            f"{records[card].final_n_tokens:,} tokens of books it did not train on: {shown}{more}. "
        )
    sentence = _dead_sentence(run, len(reach[here][1]), len(never[here]))
    chart = chart_cell(
        Head(sentence, "never", here.colour, under=under),
        reached_figure(
            {card: shares for card, (shares, _) in reach.items()},
            {card: 1 - len(units) / d_ff for card, units in never.items()},
            run.labels,
        ),
        "The share of neurons above zero at least once, token after token, for each network.",
        height=560,
    )
    return Sheet([row(chart)])


def _dead_sentence(run: Run, here: int, in_books: int) -> Sentence:
    d_ff = run.model.sizes.d_ff
    return [
        f"In block {run.state.block + 1} of {run.card.label}, ",
        number(f"{here:,} of {d_ff:,} neurons ({percent(here / d_ff)})"),
        " are above zero on no token of this sentence; on no token of whole books, "
        f"{in_books:,} ({percent(in_books / d_ff)}).",
    ]  # fmt: skip
