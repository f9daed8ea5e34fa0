"""The files of a corpus, on this machine or in an object store."""

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

Place = Path | Address  # of a file or folder
File = Path | Stored


def files_in(paths: Sequence[Place]) -> Iterator[File]:
    """All files of a corpus: this machine's first, then the stores', each sorted by path.

    Left out are names that begin with a dot in a folder, and links that lead out of it: whoever
    names a folder has not named what lies elsewhere.

    Raises:
        StoreError: if a store does not answer, or has not what was asked for.
    """
    local: list[Path] = []
    stored: list[Stored] = []
    for path in paths:
        if isinstance(path, Address):
            stored += (each for each in path.files() if not _hidden(each.path, path.place))
        elif path.is_dir():
            top = path.resolve()
            local += (
                each
                for each in path.rglob("*")
                if each.is_file() and not _hidden(each, path) and top in each.resolve().parents
            )
        elif path.is_file():
            local.append(path)
    stored.sort(key=lambda each: (each.path, each.address))
    files: list[File] = [*sorted(local), *stored]
    yield from (each for each in files if kind_of(pure(each))[0] in KINDS)


def _hidden(path: PurePath, folder: PurePath | str) -> bool:
    """Whether the file's path within the folder has a name that begins with a dot."""
    return any(name.startswith(".") for name in path.relative_to(folder).parts)


def kind_of(path: PurePath) -> tuple[str, str | None]:
    """A file's suffix, without that of its compression, and the compression if it has one."""
    packed = PACKED.get(path.suffix)
    return (path.with_suffix("") if packed else path).suffix.lower(), packed


@contextmanager
def opened(path: File) -> Iterator[IO[bytes]]:
    """A stream of the file's bytes, decompressed.

    Raises:
        OSError, ArrowException: if it cannot be.
    """
    packed = PACKED.get(pure(path).suffix)
    if isinstance(path, Stored):
        with path.opened(packed) as file:
            yield file
    elif packed:
        with pa.input_stream(str(path), compression=packed) as stream:
            yield io.BufferedReader(stream)
    else:
        with path.open("rb") as file:
            yield file


def start_of(path: File, n: int) -> bytes:
    """The first n bytes of a file, as they are stored.

    Raises:
        OSError, ArrowException: if it cannot be read.
    """
    if isinstance(path, Stored):
        with path.random() as stream:
            return bytes(stream.read(n))
    with path.open("rb") as file:
        return file.read(n)


def table_of(path: File) -> pq.ParquetFile:
    """The table of a .parquet file.

    Raises:
        OSError, ArrowException: if it is none.
    """
    if isinstance(path, Stored):
        return pq.ParquetFile(path.random(), pre_buffer=True)
    return pq.ParquetFile(path)


def size_of(path: File) -> int:
    """The size in bytes.

    Raises:
        OSError: if it is not there.
    """
    return path.size if isinstance(path, Stored) else path.stat().st_size


def pure(path: File) -> PurePath:
    """The file's path without its file system."""
    return path.path if isinstance(path, Stored) else path


def name_of(path: File) -> str:
    """The file's name, whatever bytes it has."""
    return readable(pure(path).name)


def shown(place: Place) -> str:
    """The path as messages show it."""
    return place.shown if isinstance(place, Address) else str(place)


def check_store(path: File) -> None:
    """Check that the file's store can be reached; a lost one ends the run, which can be resumed.

    Raises:
        StoreError: if it cannot.
    """
    if isinstance(path, Stored):
        path.address.check()


def readable(name: str) -> str:
    """A name with ? for bytes that are no text."""
    return name.encode(errors="replace").decode()
