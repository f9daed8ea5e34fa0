"""A neuron on many sentences: how often it fires, on which tags, and where in the sentence."""

import numpy as np
import streamlit as st

from ffnviz.analysis.neurons.enrichment import LEVEL, TagCount, tag_counts
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.figures.neurons import neuron as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.neurons.choose import chooser, index_of
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

SHOWN = 16


def render(run: Run, navigator: Navigator) -> None:
    """The tags beside the positions."""
    neuron = chooser(run, navigator)
    index = index_of(run, navigator)
    if index is None:
        return
    tags, positions = st.columns([1.3, 1], gap="medium")
    with tags:
        on_which_tags(run, index, neuron)
    with positions:
        at_which_positions(run, index, neuron)


def on_which_tags(run: Run, index: NeuronIndex, neuron: int) -> None:
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
        sentence += [" more often than by chance on ",
                     number(f"{len(beyond)} of {len(counts)} tags")]  # fmt: skip
        if beyond:
            sentence += [", most of all ", number(beyond[0].tag)]
        sign = ("+ " if side > 0 else "− ") * index.both_sides
        shown += [(sign, count) for count in counts[: SHOWN // len(block.sides)]]
    chart(
        Head([*sentence, "."], "tags", run.card.colour),
        figures.tags(
            [f"{sign}{count.tag} ({count.n})" for sign, count in shown],
            np.array([count.share for _, count in shown]),
            np.array([count.share_elsewhere for _, count in shown]),
            [count.corrected for _, count in shown],
            LEVEL,
            run.card.colour,
        ),
        "For each tag, the share of its sentences that wake the neuron, beside the share of the "
        "other sentences.",
        f"{run.stamp} {neuron}",
        key="tags-of-neuron",
        height=680,
    )


def at_which_positions(run: Run, index: NeuronIndex, neuron: int) -> None:
    """The share of tokens at each position that wake it."""
    block = index.by_number[run.state.block]
    fired = block.by_position[:, neuron]
    shares = fired / np.maximum(index.at_position, 1)
    often = index.at_position >= 20  # of fewer tokens a share says little
    shares, counts = shares[often], index.at_position[often]
    sentence: Sentence = [
        "It fires on ", number(percent(float(fired.sum() / index.n_tokens))),
        f" of {index.n_tokens:,} tokens",
    ]  # fmt: skip
    if len(shares) and shares.max() > 0:
        most = int(shares.argmax())
        sentence += [", most often at ", number(f"position {most + 1}"),
                     f" ({percent(float(shares[most]))})"]  # fmt: skip
    chart(
        Head([*sentence, "."], "positions", run.card.colour),
        figures.positions(shares, counts, run.card.colour),
        "The share of tokens at each position that wake the neuron.",
        f"{run.stamp} {neuron}",
        key="positions-of-neuron",
        height=680,
    )
