"""A neuron on many sentences: how often it fires, on which tags, and where in the sentence."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import sheet_of_index
from ffnviz.parts.sheet import Row, Sheet, row
from ffnviz.pictures import neuron_chart as figures
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.wording import Sentence, number, percent
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

LEVEL = 0.05


@dataclass(frozen=True)
class TagCount:
    """How often a neuron fired on the texts of one tag."""

    tag: str
    fired: int  # texts with the tag in which it fired
    n: int  # texts with the tag
    share_elsewhere: float  # share of the other texts in which it fired, from 0 to 1
    p: float  # of so many or more by chance (Fisher's exact test, one-sided)
    corrected: float  # p after Holm's correction for the number of tags

    @property
    def share(self) -> float:
        """Share of the tag's texts in which it fired, from 0 to 1."""
        return self.fired / max(self.n, 1)  # a file of blank lines is a tag without texts

    @property
    def beyond_chance(self) -> bool:
        """Whether chance is ruled out at LEVEL."""
        return self.corrected < LEVEL


def tag_counts(index: NeuronIndex, block: int, neuron: int, side: int = 1) -> list[TagCount]:
    """All tags for one neuron above zero, or for side −1 below, the least likely by chance first.

    The sides are kept apart: on one, a neuron writes the opposite of what it writes on the other.
    """
    texts, by_tag = index.by_number[block].sides[side]
    fired, n_texts = int(texts[neuron]), index.n_texts
    tags = list(zip(index.tags, by_tag[:, neuron].tolist(), index.with_tag.tolist(), strict=True))
    tails = [hypergeometric_tail(both, n_texts, n, fired) for _, both, n in tags]
    counts = [
        TagCount(tag, both, n, (fired - both) / max(n_texts - n, 1), p, corrected)
        for (tag, both, n), p, corrected in zip(
            tags, tails, holm(np.array(tails)).tolist(), strict=True
        )
        if n
    ]
    return sorted(counts, key=lambda count: (count.p, -count.share, count.tag))


def hypergeometric_tail(both: int, n_all: int, n_tag: int, n_fired: int) -> float:
    """P(X ≥ both), if n_fired were drawn at random from n_all, of which n_tag have the tag.

    Fisher 1935, "The logic of inductive inference".
    """
    most = min(n_tag, n_fired)
    counts = np.arange(max(both, n_fired + n_tag - n_all), most + 1)
    logs = np.concatenate([[0.0], np.log(np.arange(1, n_all + 1)).cumsum()])  # of factorials
    log_p = (
        logs[n_tag] - logs[counts] - logs[n_tag - counts]
        + logs[n_all - n_tag] - logs[n_fired - counts] - logs[n_all - n_tag - n_fired + counts]
        - logs[n_all] + logs[n_fired] + logs[n_all - n_fired]
    )  # fmt: skip
    return float(min(1.0, np.exp(log_p).sum()))


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correct p-values for their number: a family has a false one with probability p at most.

    Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    order = np.argsort(p, kind="stable")
    steps = p[order] * (len(p) - np.arange(len(p)))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


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
