"""Of every neuron the sentences that activate it most, as one table: the page has no index.

What is said and shown of each is the Neurons page's own cell; a live page has the first rows of it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ffnviz.export.journey import Arrays
from ffnviz.parts.neurons.choose import index_with_notes
from ffnviz.parts.neurons.examples import strongest_examples
from ffnviz.pictures.payload import as_numbers
from ffnviz.state.run import Run

ROWS = 6  # sentences of a neuron; the server's page has up to twelve


@dataclass(frozen=True)
class ExamplesTable:
    """What play_journey.js reads."""

    header: dict[str, Any]  # "heads", and "passages": before, at and after the marked token
    # by "network block", each a row a neuron: "examples", places among the passages from 1 and 0
    # for none; "example values", in hundredths; "example heads", (d_ff, 1)
    arrays: Arrays


def examples_table(run: Run) -> ExamplesTable | None:
    """That of all blocks of a run's networks; None if one of them has no index."""
    heads: dict[str, tuple[int, Any]] = {}
    passages: dict[tuple[str, ...], int] = {}
    arrays: Arrays = {}
    for traced in run.both:
        sizes = traced.network.sizes
        for block in range(sizes.n_blocks):
            chosen = replace(run, subject=traced, state=replace(
                run.state, network=traced.card.id, block=block, neuron=None,
            ))  # fmt: skip
            index = index_with_notes(chosen).index
            if index is None:
                return None
            places = np.zeros((sizes.d_ff, ROWS), np.int64)
            values = np.zeros((sizes.d_ff, ROWS), np.int64)
            said = np.zeros((sizes.d_ff, 1), np.int64)
            for neuron in range(sizes.d_ff):
                shown = strongest_examples(chosen, index, neuron)[0].data
                said[neuron], _ = heads.setdefault(str(shown["head"]), (len(heads), shown["head"]))
                for at, (value, *text) in enumerate(shown["rows"][:ROWS]):
                    places[neuron, at] = passages.setdefault(tuple(text), len(passages) + 1)
                    values[neuron, at] = int(value.replace(".", ""))
            name = f"{traced.card.id} {block}"
            arrays[f"{name} examples"] = places
            arrays[f"{name} example values"] = as_numbers(values, int(values.max()) + 1)
            arrays[f"{name} example heads"] = as_numbers(said, len(heads))
    for name, places in arrays.items():
        if name.endswith(" examples"):
            arrays[name] = as_numbers(places, len(passages) + 1)
    header = {"heads": [head for _, head in heads.values()], "passages": list(passages)}
    return ExamplesTable(header, arrays)
