"""A corpus as pieces of work: which stretch of which file each is, and the texts in it.

A line of a .txt is a text; of a .jsonl or .parquet, one column is. What cannot be read is counted
and named, and never stops the others: a run of many hours must not end at one bad line.
"""

import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

PIECE_BYTES = 2**21  # of a file; about half a million tokens
LONGEST_LINE = 2**20  # bytes; what a longer line has besides is left out
PACKED = {".gz": "gzip", ".zst": "zstd"}
KINDS = (".txt", ".jsonl", ".parquet")


class SourcesError(ValueError):
    """Nothing to read: says why."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a file.

    Attributes:
        number: its place in the corpus, from 0.
        path: the file.
        kind: one of KINDS.
        start, end: bytes of a .txt or .jsonl, row groups of a .parquet; end None for a packed
            file, which can be read from its start only.
    """

    number: int
    path: Path
    kind: str
    start: int
    end: int | None

    @property
    def name(self) -> str:
        """The file's, whatever bytes it has."""
        return _readable(self.path.name)

    @property
    def tag(self) -> str:
        """The same, without what it ends in."""
        return _readable(self.path.stem)


def pieces_of(paths: Sequence[Path]) -> tuple[tuple[Piece, ...], dict[str, int]]:
    """The pieces of files and folders, sorted by path, and the files that have none.

    Raises:
        SourcesError: if there is nothing to read in any of them.
    """
    problems: Counter[str] = Counter()
    found: list[tuple[Path, str, int, int | None]] = []
    for path in sorted(_files(paths)):
        kind, packed = _kind_of(path)
        try:
            stretches = _stretches(path, kind, packed)
        except (OSError, pa.ArrowException) as error:
            problems[f"{_readable(path.name)}: cannot be read ({_short(error)})"] += 1
            continue
        if not stretches:
            problems[f"{_readable(path.name)}: is empty"] += 1
        found += [(path, kind, start, end) for start, end in stretches]
    if not found:
        raise SourcesError(
            f"{', '.join(map(str, paths))}: there is no text in it. Give .txt, .jsonl, .jsonl.gz, "
            ".jsonl.zst or .parquet files, or a folder of them."
        )
    return tuple(Piece(number, *each) for number, each in enumerate(found)), dict(problems)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        inside = path.rglob("*") if path.is_dir() else [path]
        yield from (each for each in inside if each.is_file() and _kind_of(each)[0] in KINDS)


def _kind_of(path: Path) -> tuple[str, str | None]:
    packed = PACKED.get(path.suffix)
    return (path.with_suffix("") if packed else path).suffix.lower(), packed


def _stretches(path: Path, kind: str, packed: str | None) -> list[tuple[int, int | None]]:
    if kind == ".parquet":
        n_groups = pq.ParquetFile(path).num_row_groups
        return [(group, group + 1) for group in range(n_groups)]
    size = path.stat().st_size
    if packed:
        return [(0, None)] if size else []
    return [(start, min(start + PIECE_BYTES, size)) for start in range(0, size, PIECE_BYTES)]


def texts_of(piece: Piece, column: str, problems: Counter[str]) -> Iterator[str]:
    """The texts of a piece, with single spaces; what is wrong is counted in `problems`."""
    try:
        yield from _texts(piece, column, problems)
    except (OSError, pa.ArrowException) as error:
        problems[f"{piece.name}: cannot be read ({_short(error)})"] += 1


def _texts(piece: Piece, column: str, problems: Counter[str]) -> Iterator[str]:
    if piece.kind == ".parquet":
        rows: Iterator[object] = _rows(piece, column, problems)
    else:
        rows = _lines(piece, problems)
        if piece.kind == ".jsonl":
            rows = _column(rows, column, piece.name, problems)
    for row in rows:
        if isinstance(row, str):
            text = " ".join(row.split())
            if text:
                yield text
        else:
            problems[f"{piece.name}: rows without text in “{column}”"] += 1


def _lines(piece: Piece, problems: Counter[str]) -> Iterator[str]:
    """Lines that begin in the piece: a line is that piece's in which its first byte lies."""
    name, at = piece.name, piece.start
    with _opened(piece.path) as file:
        if at:
            file.seek(at - 1)
            at += sum(_line(file)[1:]) - 1  # the rest of a line that began before
        while piece.end is None or at < piece.end:
            line, size, left_out = _line(file)
            if not size:
                return
            at += size + left_out
            if left_out:
                problems[f"{name}: lines of more than {LONGEST_LINE:,} bytes, cut"] += 1
            elif not _is_utf8(line):
                problems[f"{name}: lines that are not UTF-8, read with � for what is wrong"] += 1
            yield line.decode("utf-8", errors="replace")


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    packed = PACKED.get(path.suffix)
    if not packed:
        with path.open("rb") as file:
            yield file
        return
    with pa.input_stream(str(path), compression=packed) as stream:
        yield io.BufferedReader(stream)


def _line(file: IO[bytes]) -> tuple[bytes, int, int]:
    """The start of the next line, its length, and how much more of the line there is."""
    line = more = file.readline(LONGEST_LINE)
    left_out = 0
    while more and not more.endswith(b"\n"):
        more = file.readline(LONGEST_LINE)
        left_out += len(more)
    return line, len(line), left_out


def _column(
    lines: Iterator[str], column: str, name: str, problems: Counter[str]
) -> Iterator[object]:
    for line in lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            problems[f"{name}: lines that are not JSON"] += 1
            continue
        yield row.get(column) if isinstance(row, dict) else None


def _rows(piece: Piece, column: str, problems: Counter[str]) -> Iterator[object]:
    file = pq.ParquetFile(piece.path)
    if column not in file.schema_arrow.names:
        problems[f"{piece.name}: has no column “{column}”"] += 1
        return
    for batch in file.iter_batches(row_groups=[piece.start], columns=[column]):
        yield from batch.column(0).to_pylist()


def _readable(name: str) -> str:
    return name.encode(errors="replace").decode()


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _short(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).splitlines()[0][:120]
