"""A class's sentences: the neurons that most of them activate."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, escaped, isolated, shortened
from ffnviz.figures.panels import bar_panels
from ffnviz.figures.wording import neuron_name

LONGEST = 60


def neurons_of_class(
    found: Sequence[tuple[int, int, float, str]], n_sentences: int, block: int, colour: str
) -> Figure:
    """A bar a neuron: how large its value is in these sentences, and the words where it is so.

    Args:
        found: its number, how many sentences activate it, the mean over the sentences of its
            largest value in each, and the words, as typed.
        n_sentences: how many there are.
        block: whose neurons, from 0.
        colour: of the bars.
    """
    means = np.array([mean for _, _, mean, _ in found])
    names = [neuron_name(block, neuron) for neuron, _, _, _ in found]
    text = [
        f"<b>{mean:.1f}</b> neuron {neuron_name(block, neuron)}, in {n} of {n_sentences}: "
        f"{isolated(escaped(shortened(words, LONGEST)))}"
        for neuron, n, mean, words in found
    ]
    bars = {
        "x": means,
        "y": np.arange(len(found)),
        "text": text,
        "customdata": np.array([neuron for neuron, _, _, _ in found], dtype=np.int64),
        "meta": {"names": names, "named": "neuron", "values": means},
        "textfont": {"size": 17},
        "marker": {"color": f"@{colour}"},
    }
    reach = 2.6 * float(means.max(initial=0.0)) or 1.0
    margin = {"l": 10, "r": 10, "t": 40, "b": 34}
    title = "largest value in a sentence, on average; how many sentences activate it, and where"
    return bar_panels([bars], [title], [(0.0, reach)], "hidden value", 0.3, margin)
