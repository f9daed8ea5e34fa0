"""A neuron index as a pandas table of its neurons, or of their strongest examples."""

from pathlib import Path
from typing import Any

import numpy as np

from ffnviz.analysis.neurons.browsing import HIGH
from ffnviz.analysis.neurons.interpretable_neurons import best_tags
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.models.installing import lacking

FORMATS = (".csv", ".parquet")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # as `pictures/static` has them


def neurons_table(index: NeuronIndex) -> Any:
    """One row per neuron; see NeuronIndex.to_pandas."""
    pandas = _pandas()
    tables = []
    for number, block in index.by_number.items():
        neurons = range(block.values.shape[1])
        tags, f1 = best_tags(index, block)
        columns = {
            "tokens": block.fired,
            "tokens_share": block.fired / index.n_tokens,
            "texts": block.fired_texts,
            "texts_share": block.fired_texts / index.n_texts,
            "mean": block.mean.astype(np.float64),
            "deviation": block.deviation.astype(np.float64),
            f"quantile_{HIGH:g}": [block.quantile(neuron, HIGH) for neuron in neurons],
            "most": block.most,
            "least": block.least,
            "tag": np.array(tags, dtype=object),
            "tag_f1": f1,
            "partner": block.partners[0].astype(np.int64),
            "partner_cosine": block.alike[0].astype(np.float64),
        }
        rows = pandas.MultiIndex.from_product([[number], neurons], names=["block", "neuron"])
        tables.append(pandas.DataFrame(columns, rows))
    return pandas.concat(tables)


def examples_table(index: NeuronIndex) -> Any:
    """One row per example; see NeuronIndex.to_pandas."""
    pandas = _pandas()
    rows = [
        (number, neuron, side, rank, example.value, example.token, index.texts[example.text])
        for number, block in index.by_number.items()
        for neuron in range(block.values.shape[1])
        for side in block.sides
        for rank, example in enumerate(block.examples_of(neuron, side))
    ]
    names = ["block", "neuron", "side", "rank", "value", "token", "text"]
    return pandas.DataFrame(rows, columns=names).set_index(names[:4])


def check_format(path: Path) -> None:
    """Check that a table can be written to this path.

    Raises:
        ValueError: if it ends in neither .csv nor .parquet.
        ImportError: in a sentence, without pandas.
    """
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a table ends in {' or '.join(FORMATS)}.")
    _pandas()


def write_table(table: Any, path: Path) -> None:
    """Write a table in the format that its name ends in, with its levels as columns."""
    plain = table.reset_index()
    if path.suffix.lower() == ".csv":
        texts = plain.select_dtypes(exclude="number").columns
        plain[texts] = plain[texts].map(_as_text)
        plain.to_csv(path, index=False)
    else:
        plain.to_parquet(path, index=False, engine="pyarrow")


def _as_text(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: those begin with one of these signs."""
    return f"“{value}”" if isinstance(value, str) and value.startswith(FORMULA) else value


def _pandas() -> Any:
    try:
        import pandas  # type: ignore[import-untyped]
    except ImportError as error:
        raise lacking("A table", "pandas") from error
    return pandas
