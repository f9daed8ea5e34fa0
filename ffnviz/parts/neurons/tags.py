"""A neuron on many sentences: how often it fires, on which tags, and where in the sentence."""

import numpy as np

from ffnviz.analysis.neurons.enrichment import LEVEL, TagCount, tag_counts
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.figures.neurons import neuron as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import sheet_of_index
from ffnviz.parts.sheet import Row, Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

SHOWN = 16
MOST_BARS = 128  # of positions; of a longer text, neighbours share one


def sheet(run: Run, _: Values) -> Sheet:
    """The tags beside the positions."""
    neuron = neuron_shown(run)

    def rows(index: NeuronIndex) -> list[Row]:
        pictures = on_which_tags(run, index, neuron), at_which_positions(run, index, neuron)
        return [row(*pictures, widths=(1.3, 1))]

    return sheet_of_index(run, rows)


def on_which_tags(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The tags least likely by chance."""
    block = index.by_number[run.state.block]
    fired = int(block.fired_texts[neuron])
    sentence: Sentence = [
        "It fires in ", number(f"{percent(fired / index.n_texts)} of {index.source}"),
    ]  # fmt: skip
    shown: list[tuple[str, TagCount]] = []
    for side in block.sides:
        counts = tag_counts(index, run.state.block, neuron, side)
        beyond = [count for count in counts if count.beyond_chance]
        sentence += [
            "; below zero" if side < 0 else ", above zero" if index.both_sides else ", and"
        ]
        sentence += [f" more often than by chance with {len(beyond)} of {len(counts)} tags"]
        if beyond:
            sentence += [f", above all {beyond[0].tag}"]
        sign = ("+ " if side > 0 else "− ") * index.both_sides
        shown += [(sign, count) for count in counts[: SHOWN // len(block.sides)]]
    return chart_cell(
        Head([*sentence, "."], "tags", run.card.colour),
        figures.tags(
            [f"{sign}{count.tag} ({count.n})" for sign, count in shown],
            np.array([count.share for _, count in shown]),
            np.array([count.share_elsewhere for _, count in shown]),
            [count.corrected for _, count in shown],
            LEVEL,
            run.card.colour,
        ),
        "For each tag, the share of its sentences that activate the neuron, beside the share of "
        "the other sentences.",
        key="tags-of-neuron",
        height=665,
    )


def at_which_positions(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The share of tokens at each position that activate it."""
    block = index.by_number[run.state.block]
    fired = block.by_position[:, neuron]
    together = -(-len(fired) // MOST_BARS)
    starts = np.arange(0, len(fired), together)
    counts = np.add.reduceat(index.at_position, starts)
    shares = np.add.reduceat(fired.astype(np.int64), starts) / np.maximum(counts, 1)
    often = counts >= 20  # of fewer tokens a share says little
    shares, counts = shares[often], counts[often]
    sentence: Sentence = [
        "It fires on ", number(percent(float(fired.sum() / index.n_tokens))),
        f" of {index.n_tokens:,} tokens",
    ]  # fmt: skip
    if len(shares) and shares.max() > 0:
        most = int(shares.argmax())
        last = min((most + 1) * together, len(fired))
        at = f"positions {starts[most] + 1} to {last}" if together > 1 else f"position {most + 1}"
        sentence += [f", most often at {at} ({percent(float(shares[most]))})"]
    under = [f"Each bar stands for {together} positions."] if together > 1 else []
    return chart_cell(
        Head([*sentence, "."], "positions", run.card.colour, under=under),
        figures.positions(shares, counts, run.card.colour, together),
        "The share of tokens at each position that activate the neuron.",
        key="positions-of-neuron",
        height=665,
    )
