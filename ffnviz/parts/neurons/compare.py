"""Compare two sentences: the neurons that differ most between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.trace import ForwardPass, Trace
from ffnviz.parts.neuron_shown import open_neuron
from ffnviz.parts.sheet import Button, Row, Sheet, row
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import neuron_name, number, quoted, signed
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Setting, Values, text_setting


@dataclass(frozen=True)
class Comparison:
    """One block's hidden values on pairs of tokens."""

    pairs: NDArray[np.int64]  # a token of the first and one of the second sentence, (n_pairs, 2)
    neurons: NDArray[np.int64]  # those that differ most, the most different first, (k,)
    # first, second: their hidden values on the pairs, (n_pairs, k)
    first: Array
    second: Array

    @property
    def difference(self) -> Array:
        """Second minus first, (n_pairs, k)."""
        return self.second - self.first


def pairs(first: list[int], second: list[int]) -> NDArray[np.int64]:
    """The tokens that correspond, by their ids: equal ones, and those that replace others."""
    matcher = SequenceMatcher(a=first, b=second, autojunk=False)
    matched = [
        (a + step, b + step)
        for tag, a, a_end, b, b_end in matcher.get_opcodes()
        if tag in ("equal", "replace")
        for step in range(min(a_end - a, b_end - b))
    ]
    return np.array(matched, dtype=np.int64).reshape(-1, 2)


def compare(
    first: ForwardPass, second: ForwardPass, block: int, k: int = 20, pair: int | None = None
) -> Comparison:
    """The k neurons of a block that differ most between two sentences, on any pair or on `pair`."""
    matched = pairs(first.ids.tolist(), second.ids.tolist())
    a = first.blocks[block].ffn.hidden.cpu().numpy()[matched[:, 0]]  # (n_pairs, d_ff)
    b = second.blocks[block].ffn.hidden.cpu().numpy()[matched[:, 1]]
    if not len(matched):
        nothing = np.zeros((0, 0), np.float32)
        return Comparison(matched, np.zeros(0, np.int64), nothing, nothing)
    difference = np.abs(b - a)
    ranked_by = difference.max(axis=0) if pair is None else difference[pair]
    neurons = np.argsort(-ranked_by, kind="stable")[:k]
    return Comparison(matched, neurons, a[:, neurons], b[:, neurons])


def differences(names: Sequence[str], both: Comparison, pair: int) -> Figure:
    """A row a pair of tokens, a column a neuron; a click chooses the neuron."""
    neurons, difference = both.neurons, both.difference
    largest = max(float(np.abs(difference).max(initial=0)), 1e-6)
    y = np.arange(len(names))
    return plot.figure(
        [plot.heatmap(
            "difference", difference, -largest, largest, x=np.arange(len(neurons)), y=y, xgap=1,
            ygap=1, meta={"named": "tokens"}, customdata=np.tile(neurons, (len(names), 1)),
            hovertemplate="neuron %{customdata}: %{z:+.2f}<extra></extra>",
            **plot.signed_colours("second − first"),
        )],
        plot.bare_axis("neuron, the most different first", tickvals=np.arange(len(neurons)),
                       ticktext=[str(n) for n in neurons], tickangle=-60),
        plot.bare_axis("", tickvals=y, range=[len(names) - 0.5, -0.5],
                       ticktext=[plot.escaped(plot.shortened(each, 16)) for each in names]),
        shapes=[plot.outline(0, len(neurons) - 1, pair, pair)],
        margin={"l": 150, "r": 10, "t": 64, "b": 90},
    )  # fmt: skip


def both_values(names: tuple[str, str], both: Comparison, pair: int, twin: str) -> Figure:
    """One pair of tokens: each neuron's value in the first sentence and in the second."""
    neurons, values = both.neurons, (both.first[pair], both.second[pair])
    y, hover = np.arange(len(neurons)), "neuron %{customdata}: %{x:.2f}<extra></extra>"
    looks = {"orientation": "h", "customdata": neurons, "hovertemplate": hover}
    shown = zip(names, values, ("@muted", f"@{twin}"), strict=True)
    return plot.figure(
        [plot.bar_trace(plot.escaped(name), x, y, colour, **looks) for name, x, colour in shown],
        plot.axis("activation φ(x·key + b)"),
        plot.row_axis(len(neurons), "neuron", tickvals=y, ticktext=[str(n) for n in neurons]),
        barmode="group",
        margin={"l": 84, "r": 16, "t": 40, "b": 56},
    )


OTHER = text_setting("other", "He opened the [MASK] and looked out.").with_control(
    "Second sentence"
)
OTHER_NEXT = replace(OTHER, default="He opened the door and looked out at the")  # without [MASK]
SETTINGS = (OTHER,)
TO_TRY = "The dog is in the house.", "The dogs are in the house."
NO_PAIRS = "No token of one sentence has a counterpart in the other."
COLUMNS = 24
BARS = 14


def sheet(run: Run, values: Values) -> Sheet:
    """The differences on all pairs of tokens, beside those of the chosen one."""
    setting, (first, second) = other_sentence(run), TO_TRY
    example = replace(run.state, sentence=first, token=None, settings=((OTHER.name, second),))
    controls = (setting, Button("Try “The dog is …” and “The dogs are …”", ShowState(example)))
    return Sheet(compared(run, values[setting]), controls)


def other_sentence(run: Run) -> Setting[str]:
    """The second sentence's setting; its default has a [MASK] only if the first sentence has."""
    return OTHER if has_mask(run, run.whole) else OTHER_NEXT


def has_mask(run: Run, trace: Trace) -> bool:
    """Whether the sentence has a mask for the network to fill in."""
    mask = run.model.tokenizer.mask_id
    return run.card.has_mask and any(token.id == mask for token in trace.tokens)


def compared(run: Run, text: str) -> list[Row]:
    """The two sentences compared, or why they cannot be."""
    if not text:
        message = "Type a second sentence to compare the first with."
        return [row(text_cell("nothing-typed", message, tone="info"))]
    read = run.model.trace(text)
    other = run.subject.shown(read)
    both = compare(run.trace, other, run.state.block, COLUMNS)
    if not len(both.pairs):
        return [row(text_cell("no-pairs", NO_PAIRS, tone="info"))]
    chosen = np.flatnonzero(both.pairs[:, 0] == run.token)
    pair = int(chosen[0]) if len(chosen) else int(np.abs(both.difference).max(axis=1).argmax())
    pictures = row(all_pairs(run, other, both, pair), one_pair(run, other, pair), widths=(1.6, 1))
    if not read.n_left_out:
        return [pictures]
    cut = f"The network reads only the first {len(read.tokens)} tokens of the second sentence."
    return [row(text_cell("cut", cut, tone="quiet")), pictures]


def _pair_names(run: Run, other: Trace, both: Comparison) -> list[str]:
    labels = token_labels(other.tokens)
    names = [(run.labels[one], labels[two]) for one, two in both.pairs]
    return [a if a == b else f"{plot.isolated(a)} → {plot.isolated(b)}" for a, b in names]


def second_line(trace: Trace) -> str:
    """The second sentence, below a saved picture."""
    return f"Second sentence: {quoted(trace.text)[0]}"


def all_pairs(run: Run, other: Trace, both: Comparison, pair: int) -> Cell:
    """The neurons that differ most, on every pair of tokens."""
    apart, names = np.abs(both.difference), _pair_names(run, other, both)
    most, column = np.unravel_index(int(apart.argmax()), apart.shape)
    sentence = (
        f"Neuron {neuron_name(run.state.block, both.neurons[column])} differs most, on "
        f"{quoted(names[most])}: "
        f"{number(f'{signed(both.first[most, column])} → {signed(both.second[most, column])}')}; "
        f"pairs of tokens compared: {len(names)}."
    )
    head = Head(sentence, "compared", run.card.colour, second_line(other))
    figure = differences(names, both, pair)
    alt = "The differences of the most different neurons, pair by pair."
    return chart_cell(head, figure, alt, height=620, on_choose=partial(open_neuron, run))


def one_pair(run: Run, other: Trace, pair: int) -> Cell:
    """The neurons that differ most on one pair of tokens."""
    both = compare(run.trace, other, run.state.block, BARS, pair)
    one, two = both.pairs[pair]
    hidden = run.trace.blocks[run.state.block].ffn.hidden[one]
    moved = other.blocks[run.state.block].ffn.hidden[two] - hidden
    sentence = (
        f"On {quoted(_pair_names(run, other, both)[pair])} the vector of all activations moves by "
        f"{number(f'{np.linalg.norm(moved.cpu().numpy()):.2f}')}; its length there is "
        f"{float(hidden.norm()):.2f}. Click another token above."
    )
    head = Head(sentence, "pair", run.card.colour, second_line(other))
    # The tokens are named above: in a legend, long ones would move the plot.
    figure = both_values(("first", "second"), both, pair, run.card.colour)
    alt = "The neurons that differ most on one pair of tokens, in both sentences."
    return chart_cell(head, figure, alt, height=620, on_choose=partial(open_neuron, run))
