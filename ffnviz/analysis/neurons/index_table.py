"""A neuron index as data: a table of its neurons, or of their strongest examples, as a file too."""

from pathlib import Path
from typing import Any

import numpy as np

from ffnviz.analysis.neurons.block_index import BlockIndex
from ffnviz.analysis.neurons.browsing import HIGH
from ffnviz.analysis.neurons.interpretable_neurons import tag_f1
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.models.installing import lacking

FORMATS = (".csv", ".parquet")


def neurons_table(index: NeuronIndex) -> Any:
    """One row a neuron; see NeuronIndex.to_pandas."""
    pandas = _pandas()
    some = [
        pandas.DataFrame(_columns(index, block), _places(pandas, number, block))
        for number, block in index.by_number.items()
    ]
    return pandas.concat(some)


def _columns(index: NeuronIndex, block: BlockIndex) -> dict[str, Any]:
    d_ff = block.values.shape[1]
    f1 = np.max([tag_f1(index, block, side) for side in block.sides], axis=0)  # (n_tags, d_ff)
    tags = np.array(index.tags, dtype=object)
    return {
        "tokens": block.fired,
        "tokens_share": block.fired / index.n_tokens,
        "texts": block.fired_texts,
        "texts_share": block.fired_texts / index.n_texts,
        "mean": block.mean.astype(np.float64),
        "deviation": block.deviation.astype(np.float64),
        f"quantile_{HIGH:g}": [block.quantile(neuron, HIGH) for neuron in range(d_ff)],
        "most": block.most,
        "least": block.least,
        "tag": tags[f1.argmax(axis=0)] if len(tags) else np.array([""] * d_ff, dtype=object),
        "tag_f1": f1.max(axis=0, initial=0.0),
        "partner": block.partners[0].astype(np.int64),
        "partner_cosine": block.alike[0].astype(np.float64),
    }


def _places(pandas: Any, number: int, block: BlockIndex) -> Any:
    neurons = range(block.values.shape[1])
    return pandas.MultiIndex.from_product([[number], neurons], names=["block", "neuron"])


def examples_table(index: NeuronIndex) -> Any:
    """One row an example; see NeuronIndex.to_pandas."""
    pandas = _pandas()
    rows = [
        (number, neuron, side, rank, each.value, each.token, index.texts[each.text])
        for number, block in index.by_number.items()
        for neuron in range(block.values.shape[1])
        for side in block.sides
        for rank, each in enumerate(block.examples_of(neuron, side))
    ]
    names = ["block", "neuron", "side", "rank", "value", "token", "text"]
    return pandas.DataFrame(rows, columns=names).set_index(names[:4])


def check_format(path: Path) -> None:
    """Check that a table can be written under this name.

    Raises:
        ValueError: if it ends in neither .csv nor .parquet.
        ImportError: in a sentence, without pandas.
    """
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a table ends in {' or '.join(FORMATS)}.")
    _pandas()


def write_table(table: Any, path: Path) -> None:
    """Write a table by the ending of its name; what identifies a row becomes columns."""
    check_format(path)
    plain = table.reset_index()
    if path.suffix.lower() == ".csv":
        plain.to_csv(path, index=False)
    else:
        plain.to_parquet(path, index=False, engine="pyarrow")


def _pandas() -> Any:
    try:
        import pandas  # type: ignore[import-untyped]
    except ImportError as error:
        raise lacking("A table", "pandas") from error
    return pandas
