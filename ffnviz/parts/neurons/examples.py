"""What activates a neuron: on this sentence, by its key, and its strongest examples."""

import numpy as np

from ffnviz.analysis.neurons.block_index import Example
from ffnviz.analysis.neurons.memory import key_matches
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.analysis.neurons.strongest import neuron_values
from ffnviz.analysis.sparsity.awake import active, threshold_for
from ffnviz.figures.neurons import neuron as figures
from ffnviz.figures.wording import Sentence, neuron_name, number, quoted, signed
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import index_with_notes, neuron_controls, passage
from ffnviz.parts.neurons.others import what_others_say
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.passages import Passage, passages_cell
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

OF_EACH_SIDE = 4  # examples at least, of twelve, where there are as many


def sheet(run: Run, _: Values) -> Sheet:
    """Its values over what its key matches, beside its examples."""
    neuron, known = neuron_shown(run), index_with_notes(run)
    examples = [] if known.index is None else strongest_examples(run, known.index, neuron)
    here = [on_this_sentence(run, neuron), what_its_key_matches(run, neuron)]
    others = what_others_say(run, neuron)
    return Sheet(
        [row(here, [*others, *known.notes, *examples], widths=(1.15, 1))],
        [*neuron_controls(run), *known.controls],
    )


def on_this_sentence(run: Run, neuron: int) -> Cell:
    """Its value on every token."""
    block, accent = run.state.block, run.card.colour
    values = neuron_values(run.trace, block, neuron)
    threshold = threshold_for(run.card.phi)
    most = int(np.abs(values).argmax())
    fires = int(active(values, threshold).sum())
    sentence: Sentence = [
        f"Neuron {neuron_name(block, neuron)} fires on ",
        number(f"{fires} of {len(values)} tokens"),
    ]  # fmt: skip
    if fires:
        sentence += [
            ", strongest on ",
            quoted(run.labels[most]),
            f": {signed(values[most])}",
        ]
    return chart_cell(
        Head([*sentence, "."], "fires", accent),
        figures.values(run.labels, values, run.token, accent, threshold),
        "The neuron's value on each token of the sentence.",
        key="neuron-values",
        height=300,
        on_choose=ChooseToken,
    )


def what_its_key_matches(run: Run, neuron: int) -> Cell:
    """The words whose embeddings would activate it most."""
    matches = key_matches(run.model, run.state.block, neuron, 16)
    half = len(matches.words) // 2
    colour, known = run.card.colour, run.card.provenance
    counted = known is not None and known.token_counts is not None
    sentence: Sentence = [
        f"Of all {'common ' if counted else ''}words, the embedding of ", number(matches.words[0]),
        " matches its key best: alone in the stream, it would give a pre-activation of "
        f"{signed(matches.scores[0])}.",
    ]  # fmt: skip
    return bars_cell(
        Head(sentence, "keymatch", run.card.colour),
        [
            Bars("best", matches.words[:half], matches.scores[:half], colour),
            Bars("next", matches.words[half:], matches.scores[half:], colour),
        ],
        key="key-matches",
        alt="The words whose embeddings match the neuron's key best.",
        of="pre-activation from the embedding alone",
    )


def strongest_examples(run: Run, index: NeuronIndex, neuron: int) -> list[Cell]:
    """The sentences in which it is strongest; where it may be below zero, of each side."""
    examples = index.by_number[run.state.block].strongest(neuron, OF_EACH_SIDE)
    above, below = (
        [_passage(run, index, each) for each in examples if sign * each.value > 0]
        for sign in (1, -1)
    )  # fmt: skip
    where: Sentence = [f" in {index.source}; the token that activates it is underlined."]
    lists: list[tuple[Sentence, list[Passage]]] = [(["Its strongest examples", *where], above)]
    if not examples:
        known = " above zero" * (run.card.signed and not index.both_sides)
        lists = [([number(f"It never fired{known}"), f" on {index.source}."], [])]
    elif index.both_sides:
        lists = [
            ([number("Its highest values"), *where], above),
            ([number("Its lowest values"), *([":"] if above else where)], below),
        ]
        never: Sentence = [f" on {index.source}."]
        lists = [
            (sentence if shown else [number(f"It never fired {side} zero"), *never], shown)
            for (sentence, shown), side in zip(lists, ("above", "below"), strict=True)
        ]
    return [
        passages_cell(
            Head(sentence, "examples", run.card.colour), shown, f"examples-of-neuron{side}"
        )
        for (sentence, shown), side in zip(lists, ("", "-below"), strict=False)
    ]


def strongest_passages(run: Run, index: NeuronIndex, neuron: int) -> list[Passage]:
    """Where it is strongest, as passages, the strongest first."""
    examples = index.by_number[run.state.block].strongest(neuron, OF_EACH_SIDE)
    return [_passage(run, index, each) for each in examples]


def _passage(run: Run, index: NeuronIndex, example: Example) -> Passage:
    return passage(run, index.texts[example.text], example.token, example.value)
