"""Compare two sentences: the neurons that differ most between them."""

from dataclasses import replace
from functools import partial

import numpy as np

from ffnviz.analysis.neurons.compare import Comparison, compare
from ffnviz.figures.layout import isolated
from ffnviz.figures.neurons import compare as figures
from ffnviz.figures.wording import Sentence, neuron_name, number, quoted, signed
from ffnviz.models.trace import Trace
from ffnviz.parts.neuron_shown import open_neuron
from ffnviz.parts.sheet import Button, Row, Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Setting, Values, text_setting

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
    return run.card.has_mask and any(
        token.id == run.model.tokenizer.mask_id for token in trace.tokens
    )


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
    cut = f"Of the second sentence, the first {len(read.tokens)} tokens are read."
    return [row(text_cell("cut", cut, tone="quiet")), pictures]


def _pair_names(run: Run, other: Trace, both: Comparison) -> list[str]:
    labels = token_labels(other.tokens)
    names = [(run.labels[one], labels[two]) for one, two in both.pairs]
    return [a if a == b else f"{isolated(a)} → {isolated(b)}" for a, b in names]


def second_line(trace: Trace) -> str:
    """The second sentence, below a saved picture."""
    return f"Second sentence: {quoted(trace.text)[0]}"


def all_pairs(run: Run, other: Trace, both: Comparison, pair: int) -> Cell:
    """The neurons that differ most, on every pair of tokens."""
    apart, names = np.abs(both.difference), _pair_names(run, other, both)
    most, column = np.unravel_index(int(apart.argmax()), apart.shape)
    sentence: Sentence = [
        f"Neuron {neuron_name(run.state.block, both.neurons[column])} differs most, on ",
        quoted(names[most]), ": ",
        number(f"{signed(both.first[most, column])} → {signed(both.second[most, column])}"),
        f"; {len(names)} pairs of tokens are compared.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "compared", run.card.colour, second_line(other)),
        figures.differences(names, both.neurons, both.difference, pair),
        "For each pair of tokens, how the neurons that differ most differ.",
        height=620,
        on_choose=partial(open_neuron, run),
    )


def one_pair(run: Run, other: Trace, pair: int) -> Cell:
    """The neurons that differ most on one pair of tokens."""
    both = compare(run.trace, other, run.state.block, BARS, pair)
    one, two = both.pairs[pair]
    hidden = run.trace.blocks[run.state.block].ffn.hidden[one]
    moved = other.blocks[run.state.block].ffn.hidden[two] - hidden
    sentence: Sentence = [
        "On ", quoted(_pair_names(run, other, both)[pair]),
        " the vector of all activations moves by ",
        number(f"{np.linalg.norm(moved.cpu().numpy()):.2f}"),
        f"; its norm there is {float(hidden.norm()):.2f}. Click another token above.",
    ]  # fmt: skip
    names = run.labels[one], token_labels(other.tokens)[two]
    return chart_cell(
        Head(sentence, "pair", run.card.colour, second_line(other)),
        figures.both_values(
            (f"first: {isolated(names[0])}", f"second: {isolated(names[1])}"),
            both.neurons, both.first[pair], both.second[pair], run.card.colour,
        ),
        "The neurons that differ most on one pair of tokens, in both sentences.",
        height=620,
        on_choose=partial(open_neuron, run),
    )  # fmt: skip
