"""A part of an index as a file, so that an interrupted run can be resumed."""

import io
import json
from collections.abc import Collection
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from ffnviz.analysis.neurons.index_file import COUNTS
from ffnviz.analysis.neurons.index_part import BlockPart, IndexPart
from ffnviz.models.encoder.atomic import replace_file


def write_part(part: IndexPart, done: Collection[int], run: str, path: Path) -> None:
    """Write the counts of the pieces `done` of the run that a text describes.

    Raises:
        OSError: if it cannot be written; what was there before is there still.
    """
    about = {
        "of": run, "done": sorted(done), "n_texts": part.n_texts, "problems": dict(part.problems),
        "texts": [[place, text] for place, text in part.texts.items()],
        "n_blocks": len(part.blocks),
    }  # fmt: skip
    arrays: dict[str, Any] = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
    arrays |= {name: getattr(part, name) for name in COUNTS}
    for number, block in enumerate(part.blocks):
        arrays |= {f"{number}.{name}": values for name, values in asdict(block).items()}
    content = io.BytesIO()
    np.savez(content, **arrays)
    replace_file(path, content.getbuffer())


def read_part(path: Path, run: str) -> tuple[IndexPart, set[int]] | None:
    """A part and the pieces it counts; None if the file holds none, or that of another run."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            if about["of"] != run:
                return None
            blocks = tuple(
                BlockPart(**{f.name: arrays[f"{number}.{f.name}"] for f in fields(BlockPart)})
                for number in range(about["n_blocks"])
            )
            part = IndexPart(
                about["n_texts"], arrays["at_position"], arrays["of_class"], arrays["with_tag"],
                {int(place): text for place, text in about["texts"]}, blocks, about["problems"],
            )  # fmt: skip
    except Exception:  # zipfile, zlib and NumPy raise a dozen kinds for a damaged file
        return None
    return part, set(about["done"])
