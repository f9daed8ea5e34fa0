"""Numbers of one neuron: the chosen one, or else the strongest on the chosen token."""

from collections.abc import Callable

from ffnviz.analysis.neurons.memory import written_words
from ffnviz.analysis.neurons.strongest import neuron_values
from ffnviz.analysis.prediction import predict
from ffnviz.analysis.sparsity.awake import threshold_for
from ffnviz.figures.wording import Number, Typed, neuron_name, number, percent, quoted, signed
from ffnviz.model.edit import Edit
from ffnviz.pages.neurons.choose import clear_neurons, neuron_shown
from ffnviz.run import Run

SHOWN = 3  # words


def _values(run: Run) -> list[float]:
    values: list[float] = neuron_values(run.trace, run.state.block, neuron_shown(run)).tolist()
    return values


def _fires(run: Run) -> Number:
    threshold = threshold_for(run.card.phi)
    return number(f"{sum(value > threshold for value in _values(run))}")


def _strongest_at(run: Run) -> Typed:
    values = _values(run)
    return quoted(run.labels[values.index(max(values))])


def _writes(run: Run) -> Number:
    promoted, _ = written_words(run.model, run.state.block, neuron_shown(run), SHOWN)
    return number(", ".join(promoted.words))


def _meaning(run: Run) -> Number:
    shown = neuron_shown(run)
    found = next((each for each in clear_neurons(run) if each.neuron == shown), None)
    return number(", ".join(found.words) or found.tag if found else "nothing that has a name")


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
    "neuron_value": lambda run: number(signed(_values(run)[run.token])),
    "neuron_writes": _writes,
    "neuron_meaning": _meaning,
    "says_share_without_neuron": _switched_off,
}
