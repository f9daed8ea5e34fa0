"""Compare two sentences: they stand side by side, and the neurons that tell them apart."""

from dataclasses import replace

import numpy as np

from ffnviz.analysis.neurons.compare import Comparison, compare
from ffnviz.figures.layout import isolated
from ffnviz.figures.neurons import compare as figures
from ffnviz.figures.wording import Sentence, neuron_name, number, quoted, signed
from ffnviz.models.trace import Trace
from ffnviz.parts.sheet import Button, Row, Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import OpenNeuron, ShowState
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Setting, Values, text_setting

OTHER = text_setting("other", "He opened the [MASK] and looked out.").with_control(
    "Second sentence"
)
OTHER_NEXT = replace(OTHER, default="He opened the door and looked out at the")  # without [MASK]
SETTINGS = (OTHER,)
TO_TRY = "The dog is in the house.", "The dogs are in the house."
COLUMNS = 24
BARS = 14


def sheet(run: Run, values: Values) -> Sheet:
    """The second sentence, all differences, and those of the chosen token."""
    setting = other_sentence(run)
    example = ShowState(replace(
        run.state, sentence=TO_TRY[0], token=None, settings=((OTHER.name, TO_TRY[1]),)
    ))  # fmt: skip
    controls = (setting, Button("Try “The dog is …” and “The dogs are …”", example))
    return Sheet(compared(run, values[setting]), controls)


def other_sentence(run: Run) -> Setting[str]:
    """The second sentence; without a [MASK] where the first has none."""
    return OTHER if has_mask(run, run.whole) else OTHER_NEXT


def has_mask(run: Run, trace: Trace) -> bool:
    """Whether a word is to be filled in."""
    return run.card.has_mask and any(
        token.id == run.model.tokenizer.mask_id for token in trace.tokens
    )


def compared(run: Run, text: str) -> list[Row]:
    """The sentence beside another, or why there is nothing to compare."""
    if not text:
        message = "Type a second sentence to compare the first with."
        return [row(text_cell("nothing-typed", message, tone="info"))]
    read = run.model.trace(text)
    other = run.subject.shown(read)
    names = token_labels(other.tokens)
    both = compare(run.trace, other, run.state.block, COLUMNS)
    if not len(both.pairs):
        message = "No token of one sentence has a counterpart in the other."
        return [row(text_cell("no-pairs", message, tone="info"))]
    at = np.flatnonzero(both.pairs[:, 0] == run.token)
    pair = int(at[0]) if len(at) else int(np.abs(both.difference).max(axis=1).argmax())
    pictures = row(
        all_pairs(run, other, names, both, pair), one_pair(run, other, names, both, pair),
        widths=(1.6, 1),
    )  # fmt: skip
    if not read.n_left_out:
        return [pictures]
    cut = f"Of the second sentence, the first {len(read.tokens)} tokens are read."
    return [row(text_cell("cut", cut, tone="quiet")), pictures]


def _pair_name(run: Run, names: list[str], pair: np.ndarray) -> str:
    one, two = run.labels[pair[0]], names[pair[1]]
    return one if one == two else f"{isolated(one)} → {isolated(two)}"


def _second(other: Trace) -> str:
    return f"Second sentence: {quoted(other.text)[0]}"


def all_pairs(run: Run, other: Trace, names: list[str], both: Comparison, pair: int) -> Cell:
    """The neurons that differ most, on every pair of tokens."""
    apart = np.abs(both.difference)
    most, column = np.unravel_index(int(apart.argmax()), apart.shape)
    sentence: Sentence = [
        f"Neuron {neuron_name(run.state.block, both.neurons[column])} differs most, on ",
        quoted(_pair_name(run, names, both.pairs[most])), ": ",
        number(f"{signed(both.first[most, column])} → {signed(both.second[most, column])}"),
        f"; {len(both.pairs)} pairs of tokens are compared.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "compared", run.card.colour, _second(other)),
        figures.differences(
            [_pair_name(run, names, p) for p in both.pairs],
            both.neurons,
            both.difference,
            pair,
        ),
        "For each pair of tokens, how the neurons that differ most differ.",
        height=620,
        on_choose=lambda neuron: OpenNeuron(run.neuron(neuron), "neurons", "wakes"),
    )


def one_pair(run: Run, other: Trace, names: list[str], both: Comparison, pair: int) -> Cell:
    """The neurons that differ most on one pair of tokens."""
    here = compare(run.trace, other, run.state.block, BARS, pair)
    one, two = both.pairs[pair]
    apart = np.linalg.norm(
        (other.blocks[run.state.block].ffn.hidden[two]
         - run.trace.blocks[run.state.block].ffn.hidden[one]).cpu().numpy()
    )  # fmt: skip
    size = float(run.trace.blocks[run.state.block].ffn.hidden[one].norm())
    sentence: Sentence = [
        "On ", quoted(_pair_name(run, names, both.pairs[pair])),
        " the vector of all activations moves by ",
        number(f"{apart:.2f}"), f"; its norm there is {size:.2f}. Click another token above.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "pair", run.card.colour, _second(other)),
        figures.both_values(
            (f"first: {isolated(run.labels[one])}", f"second: {isolated(names[two])}"),
            here.neurons,
            here.first[pair], here.second[pair], run.card.colour,
        ),
        "The neurons that differ most on one pair of tokens, in both sentences.",
        height=620,
        on_choose=lambda neuron: OpenNeuron(run.neuron(neuron), "neurons", "wakes"),
    )  # fmt: skip
