"""Which neuron a part shows, and the action that opens one."""

from ffnviz.analysis.neurons.strongest import strongest_neuron
from ffnviz.state.actions import OpenNeuron
from ffnviz.state.run import Run


def neuron_shown(run: Run) -> int:
    """The chosen neuron's number, in whatever network it was; else the token's strongest."""
    chosen = run.state.neuron
    if chosen is not None and chosen.index < run.model.sizes.d_ff:
        return chosen.index
    return strongest_neuron(run.trace, run.state.block, run.token)


def open_neuron(run: Run, neuron: int) -> OpenNeuron:
    """The action that opens a neuron of the block shown, at the sentences that activate it."""
    return OpenNeuron(run.neuron(neuron), "neurons", "wakes")
