"""Numbers of one neuron: the chosen one, or else the strongest on the chosen token."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.memory import written_words
from ffnviz.analysis.neurons.strongest import neuron_values
from ffnviz.analysis.prediction import predict
from ffnviz.analysis.sparsity.awake import active, threshold_for
from ffnviz.figures.wording import Number, Typed, neuron_name, number, percent, quoted, signed
from ffnviz.models.edit import Edit
from ffnviz.parts.neurons.choose import clear_neurons, index_at_hand, neuron_shown
from ffnviz.parts.neurons.wakes import strongest_passages
from ffnviz.state.run import Run

SHOWN = 3  # words


def _values(run: Run) -> NDArray[np.float32]:
    return neuron_values(run.trace, run.state.block, neuron_shown(run))


def _fires(run: Run) -> Number:
    return number(f"{active(_values(run), threshold_for(run.card.phi)).sum()}")


def _strongest_at(run: Run) -> Typed:
    return quoted(run.labels[int(np.abs(_values(run)).argmax())])


def _writes(run: Run) -> Number:
    promoted, _ = written_words(run.model, run.state.block, neuron_shown(run), SHOWN)
    return number(", ".join(promoted.words))


def _meaning(run: Run) -> Number:
    shown = neuron_shown(run)
    found = next((each for each in clear_neurons(run) if each.neuron == shown), None)
    return number(", ".join(found.words) or found.tag if found else "nothing that has a name")


def _examples(run: Run) -> Number:
    """The words that it fired at most strongly on the probe sentences."""
    index = index_at_hand(run)
    passages = strongest_passages(run, index, neuron_shown(run)) if index else []
    words = dict.fromkeys(passage.at for passage in passages)
    return number(", ".join(list(words)[:SHOWN]) or "nothing")


def _switched_off(run: Run) -> Number:
    """The probability, with this neuron at zero, of the word that is likeliest as it is."""
    word = int(predict(run.model, run.trace, run.token, 1).ids[0])
    edit = Edit(block=run.state.block, neurons=(neuron_shown(run),), scale=0.0)
    edited = run.model.trace(run.state.sentence, [edit])
    return number(percent(float(edited.logits_at(run.place).softmax(dim=-1)[word])))


FACTS: dict[str, Callable[[Run], Number | Typed]] = {
    "neuron": lambda run: number(neuron_name(run.state.block, neuron_shown(run))),
    "neuron_fires": _fires,
    "neuron_strongest_at": _strongest_at,
    "neuron_value": lambda run: number(signed(float(_values(run)[run.token]))),
    "neuron_writes": _writes,
    "neuron_meaning": _meaning,
    "neuron_examples": _examples,
    "says_share_without_neuron": _switched_off,
}
