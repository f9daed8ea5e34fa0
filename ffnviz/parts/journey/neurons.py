"""Every neuron on every token, and one of them."""

from ffnviz.analysis.journey import ORDERS, neuron_order
from ffnviz.analysis.needs import missing
from ffnviz.analysis.neurons.intervention import neuron_values
from ffnviz.analysis.neurons.memory import WRITES_NEEDS, whole_first, written_words
from ffnviz.analysis.sparsity import Awake, awake, threshold_for
from ffnviz.parts import sentences
from ffnviz.parts.neuron_shown import first_neuron, leading_neuron
from ffnviz.parts.part import NEURONS
from ffnviz.parts.sentences import active_means
from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.tokens import NeuronCard
from ffnviz.pictures.wording import neuron_name
from ffnviz.state.actions import ChooseNeuron, ChooseOrder, OpenNeuron
from ffnviz.state.run import Run, TracedModel, token_labels
from ffnviz.state.state import Neuron

RANKED, WORDS = 32, 8  # words that a neuron writes: of so many, so many are shown, whole ones first


def every_token_every_neuron(run: Run, neuron: Neuron | None = None) -> Cell:
    """Each network's hidden activations of all tokens, one network below the other."""
    maps, shares = [], []
    for traced in run.both:
        card, block = traced.card, run.block_of(traced)
        counted = awake_of(traced, block)
        shares.append((card.label, counted.share, counted.threshold, card.colour))
        hidden = traced.trace.blocks[block].ffn.hidden.float().cpu()
        order = neuron_order(hidden.numpy(), run.state.order)
        labels, token = token_labels(traced.trace.tokens), int(run.tokens_of(traced)[run.token])
        maps.append(
            ActivationMap(
                card.id,
                card.label,
                card.colour,
                active_means(counted.threshold),
                hidden.numpy(),
                order,
                labels,
                token,
                hidden.half().numpy(),
            )
        )
    neuron = neuron or neuron_of(run)
    ours = all(traced.card.ours for traced in run.both)

    def of(network: str, index: int) -> Neuron:
        return Neuron(network, run.block_of(run.traced_model(network)), index)

    def chosen(network: str, index: int, token: int) -> ChooseNeuron:
        places = run.tokens_of(run.traced_model(network))
        return ChooseNeuron(of(network, index), places.index(token) if token in places else None)

    def opened(network: str, index: int, token: int) -> OpenNeuron:
        return OpenNeuron(of(network, index), NEURONS, "working", token)

    return maps_cell(
        Head(sentences.of_maps(shares), "maps" if ours else "any-maps", run.card.colour),
        maps,
        (neuron.network, neuron.index),
        ORDERS,
        run.state.order,
        key="maps",
        on_choose=chosen,
        on_order=ChooseOrder,
        on_open=opened,
    )


def chosen_neuron(run: Run, is_off: bool = False, neuron: Neuron | None = None) -> Cell:
    """One neuron on every token, and the words it writes."""
    neuron = neuron or neuron_of(run)
    traced = run.traced_model(neuron.network)
    block, labels = run.block_of(traced), token_labels(traced.trace.tokens)
    values = neuron_values(traced.trace, block, neuron.index)
    # What it adds, if it is the one that stands here unchosen; else where it is strongest.
    leading = leading_neuron(run) if run.state.neuron is None else None
    if leading is not None and neuron.index == leading.neuron:
        sentence = sentences.of_leading(leading.word, leading.added, neuron.block, is_off)
    else:
        threshold = threshold_for(traced.card.phi)
        sentence = sentences.of_neuron(labels, values, threshold, neuron.block)
    writes: list[str] = []
    if not missing(traced.card, WRITES_NEEDS):

        def written() -> list[str]:
            promoted, _ = written_words(traced.network, block, neuron.index, k=RANKED)
            return whole_first(promoted.words)[:WORDS]

        writes = traced.per_network(f"written {block} {neuron.index}", written)

    def met(token: int | None) -> OpenNeuron:
        return OpenNeuron(neuron, NEURONS, "wakes" if token is None else "working", token)

    return NeuronCard(
        head=Head(sentence, "neuron", traced.card.colour),
        title=f"Neuron {neuron_name(block, neuron.index)} · {traced.card.label}",
        texts=labels,
        values=values.tolist(),
        token=int(run.tokens_of(traced)[run.token]),
        words=writes,
        on_meet=met,
    ).to_cell("neuron-card")


def awake_of(traced: TracedModel, block: int) -> Awake:
    """How many neurons each token activates in a block of a network."""
    threshold = threshold_for(traced.card.phi)
    return traced.per_sentence(
        ("awake", block, threshold), lambda: awake(traced.trace, block, threshold)
    )


def neuron_of(run: Run) -> Neuron:
    """The chosen neuron, in whichever of the networks; else the one that adds most to the word."""
    chosen = run.state.neuron
    d_ff = {traced.card.id: traced.network.sizes.d_ff for traced in run.both}
    if chosen is not None and chosen.index < d_ff.get(chosen.network, 0):
        return chosen
    return run.neuron(first_neuron(run))
