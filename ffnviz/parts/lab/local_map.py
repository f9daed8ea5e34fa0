"""One token, one matrix: the FFN's Jacobian J, along the way from one token to another."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ffnviz.analysis.lab.local_map import Place, Way, look_at, terms_of, way
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.neuron_shown import open_neuron
from ffnviz.parts.sheet import Control, Sheet, row, token_choice, token_setting
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Trace
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, number_slider

STOPS = [stop / 40 for stop in range(41)]
SHARE = number_slider("way_share", 0.5, STOPS, "share of the way to it", "{:.1%}")
OTHER = token_setting("way_to")
SETTINGS = (OTHER, SHARE)


def sheet(run: Run, values: Values) -> Sheet:
    """Which neurons switch, how J changes, and its rank."""
    other, share, block = other_token(run, values), values[SHARE], run.state.block
    inputs = run.trace.blocks[block].ffn.input
    start = inputs[run.token]
    end = 0 * start if other is None else inputs[other]
    setup = (block, run.token, other)
    try:
        walked = run.subject.per_sentence(
            ("way", *setup), lambda: way(terms_of(run.model.ffn(block)), start, end)
        )
    except NotForThisNetwork as error:
        return Sheet([row(text_cell("too-large", str(error), tone="info"))], [])
    place = run.subject.per_sentence(
        ("place on the way", *setup, share),
        lambda: look_at(terms_of(run.model.ffn(block)), start, end, share),
    )
    ends = (run.labels[run.token], "0" if other is None else run.labels[other])
    pictures = [
        the_switches(run, walked, ends, share),
        the_changes(run, walked, place, ends, share),
        the_rank(run, place, share),
    ]
    controls: list[Control] = [SHARE]
    if other is not None:
        others = [at for at in range(len(run.labels)) if at != run.token]
        controls.append(token_choice("To token", OTHER, run.labels, others, other))
    return Sheet([row(*pictures, widths=(1, 1.2, 1))], controls)


def other_token(run: Run, values: Values) -> int | None:
    """The token at the other end, by default the furthest; None if the sentence has no other."""
    inputs = run.trace.blocks[run.state.block].ffn.input
    wanted = values[OTHER] - 1
    if len(inputs) < 2:
        return None
    if 0 <= wanted < len(inputs) and wanted != run.token:
        return wanted
    return int((inputs - inputs[run.token]).norm(dim=-1).argmax())


def the_switches(run: Run, walked: Way, ends: tuple[str, str], share: float) -> Cell:
    """The neurons that change J most."""
    d_ff = run.model.sizes.d_ff
    how = ", but none abruptly: φ′ changes smoothly"
    if run.card.phi.exact_zeros:
        how = (
            ": near one place the FFN acts like one matrix, and each adds a part to it or takes "
            "one away"
        )
    sentence = (
        f"From {quoted(ends[0])} to {quoted(ends[1])} "
        f"{number(f'{walked.switched:,} of {d_ff:,} neurons')} "
        f"switch{'es' * (walked.switched == 1)}{how}."
    )
    shares, neurons = walked.shares, walked.neurons
    hover = "neuron %{customdata}, %{x:.0f}% of the way: φ′ = %{z:.2f}<extra></extra>"
    shades = [[0, "@background"], [1, f"@{run.card.colour}"]]
    named = np.repeat(neurons[:, None], len(shares), axis=1)
    at = {"x": 100 * shares, "y": np.arange(len(neurons)), "customdata": named}
    looks = {"colorscale": shades, "hovertemplate": hover, "showscale": False}
    figure = plot.figure(
        [plot.heatmap("φ′", walked.slopes, 0, 1, **at, **looks)],
        _way(ends),
        plot.bare_axis("neurons that change J most", showticklabels=False),
        shapes=[plot.vertical_line(100 * share, 3)],
        margin={"l": 40, "r": 24, "t": 10, "b": 60},
    )
    head = Head(sentence, "local-switches", run.card.colour)
    alt = "The slope φ′ of the neurons that change the FFN's matrix most, from token to token."
    return chart_cell(head, figure, alt, height=560, on_choose=partial(open_neuron, run))


def _way(ends: Sequence[str], **more: Any) -> dict[str, Any]:
    first, last = (plot.escaped(plot.shortened(each, 12)) for each in ends)
    ticks = {"tickvals": [0, 25, 50, 75, 100], "ticktext": [first, "25%", "50%", "75%", last]}
    return plot.axis("", range=[-1, 101], zeroline=False, **ticks, **more)


def the_changes(run: Run, walked: Way, place: Place, ends: tuple[str, str], share: float) -> Cell:
    """How far J changes over the whole way, and how far around this place it holds."""
    moved = float(walked.distance[round(share * (len(walked.shares) - 1))])
    low, high = place.piece
    nearby = "Nearby it changes without a jump."
    if run.card.phi.exact_zeros and not run.card.gated:
        nearby = (
            f"Between the two nearest switches, for {100 * (high - low):.2g}% of the way, the FFN "
            "is this one matrix and a bias."
        )
    sentence = (
        f"After {percent(share)} of the way the FFN's matrix J is {number(percent(moved))} from "
        f"that of {quoted(ends[0])}. {nearby}"
    )
    colour, off = f"@{run.card.colour}", 100 * place.off
    whole = _curve("‖J − J₀‖ / ‖J₀‖", walked.shares, walked.distance, colour, xaxis="x", yaxis="y")
    near = _curve("off by, in % of the output", place.shares, off, "@text", xaxis="x2", yaxis="y2")
    here = float(np.interp(share, walked.shares, walked.distance))
    reach = [100 * float(place.shares[0]), 100 * float(place.shares[-1])]
    upward = {"rangemode": "tozero", "nticks": 4}
    figure = plot.figure(
        [whole, plot.ring("here", [100 * share], [here], colour), near],
        _way(ends, anchor="y"),
        plot.axis("", domain=[0.6, 0.94], **upward),
        xaxis2=plot.axis("% of the way, close to the place", anchor="y2", range=reach, nticks=5),
        yaxis2=plot.axis("% of output", domain=[0, 0.34], anchor="x2", **upward),
        annotations=[
            plot.panel_title("all the way: ‖J − J₀‖ / ‖J₀‖", 0, 0.95),
            plot.panel_title("close by: the FFN against J alone", 0, 0.3),
        ],
        shapes=[plot.vertical_line(100 * share, 3, yref="y2 domain", xref="x2")],
        showlegend=False,
        margin={"l": 76, "r": 24, "t": 10, "b": 56},
    )
    alt = "How far the FFN's matrix is from the first token's, and the FFN from that matrix nearby."
    return chart_cell(Head(sentence, "local-changes", run.card.colour), figure, alt, height=560)


def _curve(name: str, shares: Array, y: Array, colour: str, **axes: Any) -> Trace:
    hover = "%{x:.3g}% of the way: %{y:.3g}<extra></extra>"
    return plot.line_trace(name, 100 * shares, y, colour, 3, hovertemplate=hover, **axes)


def the_rank(run: Run, place: Place, share: float) -> Cell:
    """The singular values of J."""
    n, values = len(place.singular), place.singular
    neurons = "1 neuron has" if place.active == 1 else f"{place.active:,} neurons have"
    sentence = (
        f"At {percent(share)} of the way the matrix J has "
        f"{number(f'rank {place.rank:,} of {n:,}')}: {neurons} a slope φ′ that is not 0."
    )
    shown = values > values[0] * 1e-12
    figure = plot.lines(
        1 + shown.nonzero()[0],
        {"J": (values[shown], f"@{run.card.colour}", "solid")},
        plot.axis("number", range=[0, n + 1]),
        plot.axis("singular value", type="log", exponentformat="power", dtick=1),
        showlegend=False,
        margin={"l": 70, "r": 16, "t": 10, "b": 56},
    )
    alt = "The singular values of the FFN's matrix at this place."
    return chart_cell(Head(sentence, "local-rank", run.card.colour), figure, alt, height=560)
