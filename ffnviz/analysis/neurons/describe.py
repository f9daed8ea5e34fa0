"""Our own descriptions of neurons: the tag on which each fires most selectively, and its words."""

from collections.abc import Iterator

from ffnviz.analysis.neurons.browsing import overview
from ffnviz.analysis.neurons.descriptions import Description, Score
from ffnviz.analysis.neurons.interpretable_neurons import words_at
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.models.network import Network

BY, METHOD, SCORE = "ffnviz", "tag and words", "F1 of the tag"


def described(index: NeuronIndex, network: Network) -> Iterator[Description]:
    """A description of each neuron that fired: its tag with the F1, and its commonest words."""
    word_at = words_at(network)
    for block in index.numbers:
        rows = overview(index, block, word_at)
        for neuron, (tag, words) in enumerate(zip(rows.tag, rows.words, strict=True)):
            texts = [f"texts tagged “{tag}”"] * bool(tag) + [f"words: {words}"] * bool(words)
            if rows.awake[neuron] and texts:
                scores = (Score(float(rows.selective[neuron]), SCORE, BY),) if tag else ()
                yield Description(
                    str(block), neuron, "; ".join(texts), network.card.id, BY, METHOD, scores
                )
