"""A neuron index as a file: NumPy's .npz, compressed."""

import io
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from ffnviz.analysis.neurons.neuron_index import BlockIndex, NeuronIndex
from ffnviz.assets import ASSETS
from ffnviz.model.atomic import replace_file

INDEXES = ASSETS / "index"
VERSION = 1


class IndexFileError(ValueError):
    """A file that is not an index of this model: says why."""


def write_index(index: NeuronIndex, path: Path) -> None:
    """Write the index; values are kept to half precision.

    Raises:
        OSError: if it cannot be written; what was there before is there still.
    """
    about = {
        "version": VERSION,
        "source": index.source,
        "threshold": index.threshold,
        "n_texts": index.n_texts,
        "tags": index.tags,
        "texts": index.texts,
        "n_blocks": len(index.blocks),
    }
    arrays: dict[str, Any] = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "at_position": index.at_position,
        "with_tag": index.with_tag,
    }
    for number, block in enumerate(index.blocks):
        for name, values in asdict(block).items():
            kept = values.astype(np.float16) if values.dtype.kind == "f" else values
            arrays[f"{number}.{name}"] = kept
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    replace_file(path, content.getbuffer())


def read_index(path: Path, d_ff: int, n_blocks: int) -> NeuronIndex:
    """The index in a file.

    Raises:
        IndexFileError: if the file is none, or is of a model with other blocks or neurons.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            blocks = tuple(
                BlockIndex(**{f.name: arrays[f"{number}.{f.name}"] for f in fields(BlockIndex)})
                for number in range(about["n_blocks"])
            )
            index = NeuronIndex(
                about["source"], about["threshold"], about["n_texts"], arrays["at_position"],
                tuple(about["tags"]), arrays["with_tag"], tuple(about["texts"]), blocks,
            )  # fmt: skip
    except Exception as error:  # of a damaged file, zipfile, zlib and NumPy raise a dozen kinds
        raise IndexFileError(f"{path} is not an index of neurons ({error}).") from error
    widths = [block.values.shape[1] for block in blocks]
    if widths != [d_ff] * n_blocks:
        raise IndexFileError(
            f"{path} is an index of blocks with {widths} neurons; this model has "
            f"{n_blocks} blocks with {d_ff}. Make it anew with `ffnviz index`."
        )
    return index
