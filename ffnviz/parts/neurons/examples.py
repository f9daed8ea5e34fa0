"""What activates a neuron: on this sentence, by its key, and its strongest examples."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.intervention import neuron_values
from ffnviz.analysis.neurons.memory import key_matches
from ffnviz.analysis.neurons.neuron_index import Example, NeuronIndex
from ffnviz.analysis.sparsity.awake import active, threshold_for
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import index_with_notes, neuron_controls, passage
from ffnviz.parts.neurons.others import what_others_say
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures import neuron_chart as figures
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.text import Passage, passages_cell
from ffnviz.pictures.wording import Sentence, neuron_name, number, quoted, signed
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

OF_EACH_SIDE = 4  # examples at least, of twelve, where there are as many


def sheet(run: Run, _: Values) -> Sheet:
    """The neuron's values and the words that match its key, beside its examples."""
    neuron, at_hand = neuron_shown(run), index_with_notes(run)
    examples = [] if at_hand.index is None else strongest_examples(run, at_hand.index, neuron)
    left = [on_this_sentence(run, neuron), what_its_key_matches(run, neuron)]
    right = [*what_others_say(run, neuron), *at_hand.notes, *examples]
    controls = [*neuron_controls(run), *at_hand.controls]
    return Sheet([row(left, right, widths=(1.15, 1))], controls)


def on_this_sentence(run: Run, neuron: int) -> Cell:
    """The neuron's value on every token."""
    block, accent = run.state.block, run.card.colour
    values = neuron_values(run.trace, block, neuron)
    threshold = threshold_for(run.card.phi)
    fires = active(values, threshold)
    sentence = active_on(run, f"Neuron {neuron_name(block, neuron)} fires", values, fires)
    return chart_cell(
        Head(sentence, "fires", accent),
        figures.values(run.labels, values, run.token, accent, threshold),
        "The neuron's value on each token of the sentence.",
        key="neuron-values",
        height=300,
        on_choose=ChooseToken,
    )


def active_on(
    run: Run, beginning: str, values: NDArray[np.floating], active: NDArray[np.bool_]
) -> Sentence:
    """On how many tokens a neuron or a feature is active, and where it is strongest.

    Args:
        run: the run shown.
        beginning: of the sentence, such as "Neuron 2:17 fires".
        values: on the tokens, (T,).
        active: where it is active, (T,).
    """
    n, most = int(active.sum()), int(np.abs(values).argmax())
    sentence: Sentence = [f"{beginning} on ", number(f"{n} of {len(values)} tokens")]
    if n:
        sentence += [", strongest on ", quoted(run.labels[most]), f": {signed(values[most])}"]
    return [*sentence, "."]


def what_its_key_matches(run: Run, neuron: int) -> Cell:
    """The words whose embeddings would activate it most."""
    matches = key_matches(run.model, run.state.block, neuron, 16)
    half = len(matches.words) // 2
    colour, provenance = run.card.colour, run.card.provenance
    counted = provenance is not None and provenance.token_counts is not None
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
    """The sentences in which it is strongest; on either side of zero, if the index has both."""
    examples = index.by_number[run.state.block].strongest(neuron, OF_EACH_SIDE)
    nowhere = f" on {index.source}."
    if not examples:
        where = " above zero" * (run.card.signed and not index.both_sides)
        return [_examples(run, [number(f"It never fired{where}"), nowhere], [])]
    above, below = (
        [_passage(run, index, example) for example in examples if sign * example.value > 0]
        for sign in (1, -1)
    )
    where = f" in {index.source}; the token that activates it is underlined."
    if not index.both_sides:
        return [_examples(run, ["Its strongest examples", where], above)]
    highest: Sentence = [number("Its highest values"), where]
    lowest: Sentence = [number("Its lowest values"), ":" if above else where]
    if not above:
        highest = [number("It never fired above zero"), nowhere]
    if not below:
        lowest = [number("It never fired below zero"), nowhere]
    return [_examples(run, highest, above), _examples(run, lowest, below, "-below")]


def _examples(run: Run, sentence: Sentence, shown: list[Passage], side: str = "") -> Cell:
    head = Head(sentence, "examples", run.card.colour)
    return passages_cell(head, shown, f"examples-of-neuron{side}")


def strongest_passages(run: Run, index: NeuronIndex, neuron: int) -> list[Passage]:
    """Where it is strongest, as passages, the strongest first."""
    examples = index.by_number[run.state.block].strongest(neuron, OF_EACH_SIDE)
    return [_passage(run, index, each) for each in examples]


def _passage(run: Run, index: NeuronIndex, example: Example) -> Passage:
    return passage(run, index.texts[example.text], example.token, example.value)
