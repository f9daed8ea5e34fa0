"""Which neuron a part shows, and the action that opens one."""

from dataclasses import dataclass

from ffnviz.analysis.needs import missing
from ffnviz.analysis.neurons.intervention import (
    DIRECT_NEEDS,
    direct_contributions,
    strongest_neuron,
)
from ffnviz.analysis.prediction import predict
from ffnviz.state.actions import OpenNeuron
from ffnviz.state.run import Run


@dataclass(frozen=True)
class Leading:
    """The neuron of a block that adds most to the likeliest word at a token."""

    neuron: int
    word: str
    added: float  # to the word's logit, directly


def leading_neuron(run: Run) -> Leading | None:
    """That of the block and the token shown; None where what neurons add is not known."""
    if missing(run.card, DIRECT_NEEDS):
        return None
    block, token = run.state.block, run.token

    def compute() -> Leading:
        best = predict(run.model, run.trace, token, k=1)
        added = direct_contributions(run.model, run.trace, token, int(best.ids[0]), block)[0]
        neuron = int(added.argmax())
        return Leading(neuron, best.words[0], float(added[neuron]))

    return run.subject.per_sentence(("leading neuron", block, token), compute)


def neuron_shown(run: Run) -> int:
    """The chosen neuron's number, in whatever network it was; else the one that adds most."""
    chosen = run.state.neuron
    if chosen is not None and chosen.index < run.model.sizes.d_ff:
        return chosen.index
    return first_neuron(run)


def first_neuron(run: Run) -> int:
    """The neuron that adds most to the likeliest word; else the strongest on the token."""
    leading = leading_neuron(run)
    if leading is not None:
        return leading.neuron
    return strongest_neuron(run.trace, run.state.block, run.token)


def open_neuron(run: Run, neuron: int) -> OpenNeuron:
    """The action that opens a neuron of the block shown, at the sentences that activate it."""
    return OpenNeuron(run.neuron(neuron), "neurons", "wakes")
