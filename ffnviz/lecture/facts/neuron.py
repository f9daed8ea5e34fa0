"""Numbers of one neuron: the chosen one, or else the one that adds most to the likeliest word."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.needs import require
from ffnviz.analysis.neurons.intervention import neuron_values
from ffnviz.analysis.neurons.memory import written_words
from ffnviz.analysis.prediction import predict
from ffnviz.analysis.sparsity import active, threshold_for
from ffnviz.lecture.facts.registry import fact, facts
from ffnviz.models.edit import Edit
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.activations import strongest_passages
from ffnviz.parts.neurons.choose import clear_neurons, index_at_hand
from ffnviz.parts.neurons.fact import NEEDS as FACT_NEEDS
from ffnviz.parts.neurons.fact import carriers
from ffnviz.pictures.wording import Sentence, neuron_name, number, percent, quoted, signed
from ffnviz.state.run import Run

SHOWN = 3  # words


def _values(run: Run) -> NDArray[np.float32]:
    return neuron_values(run.trace, run.state.block, neuron_shown(run))


@fact
def neuron_meaning(run: Run) -> Sentence:
    """What that neuron responds to on our sentences, if that has a name."""
    shown = neuron_shown(run)
    clear = next((each for each in clear_neurons(run) if each.neuron == shown), None)
    return number(", ".join(clear.words) or clear.tag if clear else "nothing that has a name")


@fact
def neuron_examples(run: Run) -> Sentence:
    """The words at which that neuron is strongest on our sentences."""
    index = index_at_hand(run)
    passages = strongest_passages(run, index, neuron_shown(run)) if index else []
    words = dict.fromkeys(passage.at for passage in passages)
    return number(", ".join(list(words)[:SHOWN]) or "nothing")


@fact
def neuron_strongest_at(run: Run) -> Sentence:
    """The token at which that neuron is strongest."""
    values = np.abs(_values(run))
    return quoted(run.labels[int(values.argmax())]) if values.any() else number("no token")


@fact
def says_share_without_neuron(run: Run) -> str:
    """The probability of {says} with that neuron at zero."""
    word = int(predict(run.model, run.trace, run.token, 1).ids[0])
    edit = Edit(block=run.state.block, neurons=(neuron_shown(run),), scale=0.0)
    edited = run.model.trace(run.state.sentence, [edit])
    return percent(float(edited.logits_at(run.place).softmax(dim=-1)[word]))


def _written(run: Run) -> Sentence:
    writes, _ = written_words(run.model, run.state.block, neuron_shown(run), SHOWN)
    return number(", ".join(writes.words))


def _carriers(run: Run) -> tuple[int, str]:
    """How many neurons carry the likeliest word, and the likeliest without them."""
    require(run.model, FACT_NEEDS)

    def compute() -> tuple[int, str]:
        plain = predict(run.model, run.whole, run.place, 2)
        neurons, logits = carriers(run, *map(int, plain.ids))
        return len(neurons), run.model.tokenizer.word(int(logits.argmax())).strip()

    return run.subject.per_sentence(("carriers", run.place), compute)


facts(
    {
        "says_without_carriers": (
            "The likeliest word without those {carriers} neurons",
            lambda run: number(f"“{_carriers(run)[1]}”"),
        ),
        "carriers": (
            "How few neurons carry {says}: without them another word is likeliest (at most 50)",
            lambda run: _carriers(run)[0],
        ),
        "all_neurons": (
            "How many neurons the FFNs of all blocks have",
            lambda run: run.model.sizes.n_blocks * run.model.sizes.d_ff,
        ),
        "neuron": (
            "The chosen neuron, or else the one that adds most to the likeliest word",
            lambda run: neuron_name(run.state.block, neuron_shown(run)),
        ),
        "neuron_value": (
            "That neuron's activation on the chosen token",
            lambda run: signed(float(_values(run)[run.token])),
        ),
        "neuron_fires": (
            "On how many of the tokens that neuron is active",
            lambda run: int(active(_values(run), threshold_for(run.card.phi)).sum()),
        ),
        "neuron_writes": ("The words that the neuron makes likelier", _written),
    }
)
