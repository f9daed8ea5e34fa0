"""A neuron index as a file: NumPy's .npz, compressed."""

import io
import json
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.counting import EXAMPLES, BlockPart, IndexPart
from ffnviz.analysis.neurons.gathering import TokenClass
from ffnviz.analysis.neurons.histogram import BINS
from ffnviz.analysis.neurons.names import runs
from ffnviz.analysis.neurons.neuron_index import BlockIndex, NeuronIndex
from ffnviz.analysis.neurons.partners import SHOWN
from ffnviz.models.arguments import path_of
from ffnviz.models.config import ASSETS
from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.fingerprint import VERSION

INDEXES = ASSETS / "index"  # of the twins
ABOUT = ("source", "threshold", "n_texts", "tags", "texts", "numbers", "problems", "network")
COUNTS = ("at_position", "of_class", "with_tag")
# of the side below zero; files before version 3 have none of these
LOW = {"low_values", "low_examples", "low_tokens", "low_texts", "low_by_tag", "both_texts"}


class IndexFileError(ValueError):
    """A file that is not an index of this network: says why.

    Examples:
        >>> ffnviz.read_index("not-there")
        Traceback (most recent call last):
            ...
        ffnviz.analysis.neurons.index_file.IndexFileError: ...
    """


def write_index(index: NeuronIndex, path: Path) -> None:
    """Write an index; its values are kept in half precision."""
    about = {"version": VERSION} | {name: getattr(index, name) for name in ABOUT}
    arrays = {name: getattr(index, name) for name in COUNTS}
    for number, block in index.by_number.items():
        arrays |= {f"{number}.{name}": _small(values) for name, values in asdict(block).items()}
    _write(path, about, arrays, np.savez_compressed)


def _write(path: Path, about: object, arrays: Mapping[str, Any], save: Callable[..., Any]) -> None:
    content = io.BytesIO()
    save(content, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)
    replace_file(path, content.getbuffer())


@contextmanager
def _opened(path: Path) -> Iterator[tuple[dict[str, Any], Mapping[str, NDArray[Any]]]]:
    """What a file says about itself, and its arrays."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        yield json.loads(arrays["about"].tobytes()), arrays


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """The same in fewer bytes: float32 for float64, half precision for float32, small integers."""
    if values.dtype.kind == "f":
        return values.astype(np.float32 if values.dtype == np.float64 else np.float16)
    ends = values.max(initial=0), values.min(initial=0)
    return values.astype(np.result_type(*map(np.min_scalar_type, ends)))


def _check(index: NeuronIndex) -> None:
    """Check what pages rely on, as somebody else's file may hold anything."""
    n_tags, numbers = len(index.tags), index.numbers
    if not numbers or any(type(n) is not int or n < 0 for n in numbers):
        raise ValueError("it does not say which blocks it has")
    if list(numbers) != sorted(set(numbers)):
        raise ValueError("its blocks are not in order")
    low = EXAMPLES if index.both_sides else 0
    wanted: dict[str, tuple[int, ...]] = {
        "by_position": (len(index.at_position),),
        "by_class": (len(TokenClass),),
        "texts": (),
        "by_tag": (n_tags,),
        "mean": (),
        "deviation": (),
        "values": (EXAMPLES,),
        "examples": (EXAMPLES,),
        "tokens": (EXAMPLES,),
        "partners": (SHOWN,),
        "alike": (SHOWN,),
    }
    wanted |= dict.fromkeys(("low_values", "low_examples", "low_tokens"), (low,))
    wanted |= {"low_texts": (), "both_texts": (), "low_by_tag": (n_tags if low else 0,)}
    for block in index.blocks:
        d_ff = block.values.shape[-1]
        shapes = {name: (*shape, d_ff) for name, shape in wanted.items()}
        for name, shape in (shapes | {"histogram": (d_ff, BINS)}).items():
            if getattr(block, name).shape != shape:
                raise ValueError(f"“{name}” has another shape")
        texts, tokens = (0, len(index.texts)), (0, 2**31)
        bounds = {
            "examples": texts,
            "tokens": tokens,
            "partners": (-1, d_ff),
            "low_examples": texts,
            "low_tokens": tokens,
        }
        for name, (least, end) in bounds.items():
            values = getattr(block, name)
            if values.size and not least <= int(values.min()) <= int(values.max()) < end:
                raise ValueError(f"“{name}” points to what is not there")
    if not (index.n_texts > 0 and index.n_tokens > 0 and len(index.with_tag) == n_tags):
        raise ValueError("its counts do not fit together")
    words: tuple[object, ...] = (index.source, *index.tags, *index.texts)
    if not all(isinstance(word, str) for word in words):
        raise ValueError("its source, tags or texts are not strings")


def read_index(
    path: Path | str, d_ff: int | None = None, n_blocks: int | None = None
) -> NeuronIndex:
    """Read an index of neurons that `ffnviz index` wrote: of all blocks, or of some.

    `index.by_number[block]` has arrays with d_ff in their last dimension: `fired` (d_ff,), `values`
    and `examples` (12, d_ff), `by_tag` (n_tags, d_ff), …; `index.to_pandas()` is a table of them.

    Args:
        path: of the file, .npz.
        d_ff: of the network it should belong to; not compared if absent.
        n_blocks: likewise.

    Raises:
        IndexFileError: a ValueError, if it is not an index, or of a network of other sizes.

    Examples:
        >>> index = ffnviz.read_index(ffnviz.load("relu").card.provenance.index)
        >>> index.numbers, index.by_number[1].fired.shape
        ((0, 1), (2048,))
        >>> len(index.to_pandas())  # a row per neuron
        4096
    """
    path = path_of(path)
    if not path.is_file():
        raise IndexFileError(f"{path} is not an index of neurons: there is no such file.")
    try:
        with _opened(path) as (about, arrays):
            blocks = tuple(
                BlockIndex(**{f.name: _array(arrays, number, f.name) for f in fields(BlockIndex)})
                for number in about["numbers"]
            )
            index = NeuronIndex(
                about["source"],
                about["threshold"],
                about["n_texts"],
                arrays["at_position"],
                arrays["of_class"],
                tuple(about["tags"]),
                arrays["with_tag"],
                tuple(about["texts"]),
                blocks,
                tuple(about["numbers"]),
                about["problems"],
                str(about.get("network", "")),
            )
            _check(index)
    except Exception as error:  # zipfile, zlib and NumPy raise a dozen kinds for a damaged file
        why = error if zipfile.is_zipfile(path) else "it is not an .npz file"
        raise IndexFileError(f"{path} is not an index of neurons ({why}).") from error
    widths = sorted({block.values.shape[1] for block in blocks})
    wide, deep = d_ff or widths[0], n_blocks or index.numbers[-1] + 1
    if widths != [wide] or index.numbers[-1] >= deep:
        raise IndexFileError(
            f"{path} is an index of block{'s' * (len(index.numbers) > 1)} "
            f"{in_words(index.numbers)} (from 1), with {', '.join(map(str, widths))} neurons each; "
            f"this network has {deep} block{'s' * (deep != 1)} with {wide}. Make the index anew "
            "with `ffnviz index`."
        )
    return index


def _array(arrays: Mapping[str, NDArray[Any]], number: int, name: str) -> NDArray[Any]:
    """One of a block's arrays; in an older file, no text fired below zero."""
    if name in LOW and f"{number}.{name}" not in arrays:
        d_ff = arrays[f"{number}.values"].shape[-1]
        return np.zeros(d_ff if name.endswith("_texts") else (0, d_ff), dtype=np.int32)
    return arrays[f"{number}.{name}"]


def in_words(numbers: Sequence[int]) -> str:
    """Block numbers as people count them, from 1: 0, 2, 3, 4 is “1 and 3–5”."""
    shown = []
    for first, last in runs(numbers):
        # Two neighbours read better as two than as a range.
        if last - first > 1:
            shown.append(f"{first + 1}–{last + 1}")
        else:
            shown += [f"{number + 1}" for number in range(first, last + 1)]
    return " and ".join([", ".join(shown[:-1])] * (len(shown) > 1) + shown[-1:])


def write_part(part: IndexPart, done: Collection[int], run: str, path: Path) -> None:
    """Write the counts of the pieces `done` of the run that a text describes."""
    about = {
        "of": run,
        "done": sorted(done),
        "n_texts": part.n_texts,
        "problems": dict(part.problems),
        "texts": [[place, text] for place, text in part.texts.items()],
        "n_blocks": len(part.blocks),
    }
    arrays = {name: getattr(part, name) for name in COUNTS}
    for number, block in enumerate(part.blocks):
        arrays |= {f"{number}.{name}": values for name, values in asdict(block).items()}
    _write(path, about, arrays, np.savez)


def read_part(path: Path, run: str) -> tuple[IndexPart, set[int]] | None:
    """A part and the pieces it counts; None if the file holds none, or that of another run."""
    try:
        with _opened(path) as (about, arrays):
            if about["of"] != run:
                return None
            blocks = tuple(
                BlockPart(**{f.name: arrays[f"{number}.{f.name}"] for f in fields(BlockPart)})
                for number in range(about["n_blocks"])
            )
            part = IndexPart(
                about["n_texts"],
                arrays["at_position"],
                arrays["of_class"],
                arrays["with_tag"],
                {int(place): text for place, text in about["texts"]},
                blocks,
                about["problems"],
            )
    except Exception:  # zipfile, zlib and NumPy raise a dozen kinds for a damaged file
        return None
    return part, set(about["done"])
