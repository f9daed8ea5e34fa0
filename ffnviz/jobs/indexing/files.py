"""The files of a corpus, on this machine or in a store: which there are, and their bytes."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from ffnviz.jobs.indexing.stores import Address, Stored

PACKED = {".gz": "gzip", ".zst": "zstd"}
KINDS = (".txt", ".jsonl", ".parquet")

Place = Path | Address  # where texts lie
File = Path | Stored


def files_in(paths: Sequence[Place]) -> Iterator[File]:
    """This machine's, then the stores', each in the order of their paths, folder by folder.

    What a folder has under a name that begins with a dot is left out, and so is a link that leads
    out of it: whoever names a folder has not named what lies elsewhere.

    Raises:
        StoreError: if a store does not answer, or has not what was asked for.
    """
    here: list[Path] = []
    stored: list[Stored] = []
    for path in paths:
        if isinstance(path, Address):
            stored += (each for each in path.files() if not _hidden(each.path, path.place))
        elif path.is_dir():
            inside, top = path.rglob("*"), path.resolve()
            here += (
                each
                for each in inside
                if each.is_file() and not _hidden(each, path) and top in each.resolve().parents
            )
        elif path.is_file():
            here.append(path)
    stored.sort(key=lambda each: (each.path, each.address))
    files: list[File] = [*sorted(here), *stored]
    yield from (each for each in files if kind_of(pure(each))[0] in KINDS)


def _hidden(path: PurePath, folder: PurePath | str) -> bool:
    """Whether a part of its path below the folder begins with a dot."""
    return any(name.startswith(".") for name in path.relative_to(folder).parts)


def kind_of(path: PurePath) -> tuple[str, str | None]:
    """What it ends in, and how it is packed, if it is."""
    packed = PACKED.get(path.suffix)
    return (path.with_suffix("") if packed else path).suffix.lower(), packed


@contextmanager
def opened(path: File) -> Iterator[IO[bytes]]:
    """To be read line by line; a packed one, unpacked.

    Raises:
        OSError, ArrowException: if it cannot be.
    """
    packed = PACKED.get(pure(path).suffix)
    if isinstance(path, Stored):
        with path.opened(packed) as file:
            yield file
        return
    if not packed:
        with path.open("rb") as file:
            yield file
        return
    with pa.input_stream(str(path), compression=packed) as stream:
        yield io.BufferedReader(stream)


def table_of(path: File) -> pq.ParquetFile:
    """A .parquet.

    Raises:
        OSError, ArrowException: if it is none.
    """
    if isinstance(path, Stored):
        return pq.ParquetFile(path.random(), pre_buffer=True)
    return pq.ParquetFile(path)


def size_of(path: File) -> int:
    """In bytes.

    Raises:
        OSError: if it is not there.
    """
    return path.size if isinstance(path, Stored) else path.stat().st_size


def pure(path: File) -> PurePath:
    """Its path, to be taken apart."""
    return path.path if isinstance(path, Stored) else path


def name_of(path: File) -> str:
    """Its name, whatever bytes it has."""
    return readable(pure(path).name)


def shown(place: Place) -> str:
    """For people."""
    return place.shown if isinstance(place, Address) else str(place)


def check_store(path: File) -> None:
    """See that not all of its store is lost: that ends a run, which goes on when it is back.

    Raises:
        StoreError: if it is.
    """
    if isinstance(path, Stored):
        path.address.check()


def readable(name: str) -> str:
    """With ? for bytes that are no text."""
    return name.encode(errors="replace").decode()
