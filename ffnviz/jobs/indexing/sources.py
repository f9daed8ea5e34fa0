"""A corpus as pieces of work, each a stretch of a file, and the texts in them.

Each line of a .txt is a text; of a .jsonl or .parquet file, each row of one column. What cannot be
read is counted and named, and never ends a run: one of many hours must survive a bad line.

The larger a network, the smaller its pieces, or a run that is killed loses an hour of each worker's
work and reports nothing for as long. They follow from the corpus, the network and its device, never
from the workers: which texts share a batch decides the last bits of their values.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import IO

import pyarrow as pa

from ffnviz.jobs.indexing import files
from ffnviz.jobs.indexing.files import opened
from ffnviz.models.card import Sizes
from ffnviz.models.text_encoding import LONGEST_MARK, MARK, UTF_8, encoding_of, lines_of

PIECE_BYTES = 2**21  # of a file; about half a million tokens
LONGEST_LINE = 2**20  # bytes; the rest of a longer line is left out
_HALF = re.compile("[\ud800-\udfff]")  # as JSON can write of an emoji, and no text can hold


class SourcesError(ValueError):
    """There is nothing to read; the message says where, and what can be read."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a file."""

    number: int  # its place in the corpus, from 0
    path: files.File
    kind: str  # one of files.KINDS
    start: int  # in bytes of a .txt or .jsonl, in row groups of a .parquet
    end: int | None  # likewise; None for a packed file, which is read from its start only
    tag: str  # the file's name without its suffix, or as much of its path as no other file has

    @property
    def name(self) -> str:
        """The file's name, whatever bytes it has."""
        return files.name_of(self.path)


def pieces_of(paths: Sequence[files.Place]) -> tuple[tuple[Piece, ...], dict[str, int]]:
    """The pieces of files and folders, sorted by path, and the files that have none."""
    problems: Counter[str] = Counter()
    located: list[tuple[files.File, str, int, int | None]] = []
    for path in files.files_in(paths):
        kind, packed = files.kind_of(files.pure(path))
        try:
            in_file = _stretches_of(path, kind, packed)
        except (OSError, pa.ArrowException) as error:
            problems[_unread(path, error)] += 1
            continue
        if not in_file:
            problems[f"{files.name_of(path)}: is empty"] += 1
        located += [(path, kind, start, end) for start, end in in_file]
    if not located:
        shown = [each.shown if isinstance(each, files.Address) else str(each) for each in paths]
        raise SourcesError(
            f"{', '.join(shown)}: there is no text in it. Give .txt, .jsonl, .jsonl.gz, .jsonl.zst "
            "or .parquet files, or a folder of them."
        )
    tags = _tags({path for path, *_ in located})
    pieces = (Piece(number, *each, tags[each[0]]) for number, each in enumerate(located))
    return tuple(pieces), dict(problems)


def _tags(paths: Collection[files.File]) -> dict[files.File, str]:
    """A tag for each file, of as few of its path's last parts as tell it from the others."""
    n_parts = dict.fromkeys(paths, 0)  # 0: the name without its suffix
    while True:
        tags = {file: _end_of(files.pure(file), n) for file, n in n_parts.items()}
        counts = Counter(tags.values())
        alike = [
            f
            for f, tag in tags.items()
            if counts[tag] > 1 and n_parts[f] < len(files.pure(f).parts)
        ]
        if not alike:
            return tags
        for file in alike:
            n_parts[file] += 1


def _end_of(path: PurePath, n_parts: int) -> str:
    return files.readable("/".join(path.parts[-n_parts:]) if n_parts else path.stem)


def _stretches_of(path: files.File, kind: str, packed: str | None) -> list[tuple[int, int | None]]:
    if kind == ".parquet":
        return [(group, group + 1) for group in range(files.table_of(path).num_row_groups)]
    size = path.size if isinstance(path, files.Stored) else path.stat().st_size
    if packed:
        return [(0, None)] if size else []
    return list(stretches(0, size, PIECE_BYTES))


def stretches(start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """The stretches from start to end, each of at most `most` bytes."""
    for first in range(start, end, most):
        yield first, min(first + most, end)


def texts_of(piece: Piece, column: str, problems: Counter[str]) -> Iterator[str]:
    """The texts of a piece, with single spaces; faults are counted in `problems`."""
    try:
        yield from _texts(piece, column, problems)
    except (OSError, pa.ArrowException) as error:
        problems[_unread(piece.path, error)] += 1


def _texts(piece: Piece, column: str, problems: Counter[str]) -> Iterator[str]:
    if piece.kind == ".parquet":
        rows: Iterator[object] = _rows(piece, column, problems)
    else:
        rows = _lines(piece, problems)
        if piece.kind == ".jsonl":
            rows = _column(rows, column, piece.name, problems)
    for row in rows:
        if isinstance(row, str):
            text = " ".join(row.removeprefix(MARK).split())
            if text:
                yield text
        else:
            problems[f"{piece.name}: rows without text in “{column}”"] += 1


def _lines(piece: Piece, problems: Counter[str]) -> Iterator[str]:
    """The lines whose first byte lies in the piece; of one in UTF-16, the first has all."""
    name, position = piece.name, piece.start
    with opened(piece.path) as file:
        if piece.end is None and isinstance(file, io.BufferedReader):  # it is packed
            mark = file.peek(LONGEST_MARK)
        else:
            mark = files.start_of(piece.path, LONGEST_MARK)
        encoding = encoding_of(mark)
        if encoding != UTF_8:
            if not position:
                yield from _lines_in(encoding, file, name, problems)
            return
        if position:  # the rest of a line that began before
            file.seek(position - 1)
            line, left_out = _line(file, position - 1, piece.end)
            position += len(line) + left_out - 1
        while piece.end is None or position < piece.end:
            line, left_out = _line(file, position, piece.end)
            if not line:
                return
            position += len(line) + left_out
            text = line.decode("utf-8", errors="replace")
            if left_out:
                problems[f"{name}: lines of more than {LONGEST_LINE:,} bytes, cut"] += 1
            elif text.encode() != line:
                problems[f"{name}: lines that are not UTF-8, read with � for what is wrong"] += 1
            yield text


def _lines_in(encoding: str, file: IO[bytes], name: str, problems: Counter[str]) -> Iterator[str]:
    """The lines of a whole file in another encoding, which may have a line's end in a letter."""
    with lines_of(file, newline="\n") as lines:
        while text := lines.readline(LONGEST_LINE):
            left_out, rest = 0, text
            while rest and not rest.endswith("\n"):
                rest = lines.readline(LONGEST_LINE)
                left_out += len(rest)
            if left_out:
                problems[f"{name}: lines of more than {LONGEST_LINE:,} characters, cut"] += 1
            elif "\ufffd" in text:
                problems[
                    f"{name}: lines that are not {encoding.upper()}, read with � for what is wrong"
                ] += 1
            yield text


def _line(file: IO[bytes], position: int, end: int | None) -> tuple[bytes, int]:
    """The next line, or the start of a long one, and how many bytes of it were skipped.

    A line that goes on beyond the end of the piece is not read to its end: otherwise each of a long
    line's pieces would read all that follows.
    """
    line = more = file.readline(LONGEST_LINE)
    left_out = 0
    while more and not more.endswith(b"\n"):
        if left_out and end is not None and position + len(line) + left_out >= end:
            break
        more = file.readline(LONGEST_LINE)
        left_out += len(more)
    return line, left_out


def _column(
    lines: Iterator[str], column: str, name: str, problems: Counter[str]
) -> Iterator[object]:
    for line in lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line.removeprefix(MARK))
        except (ValueError, RecursionError):
            problems[f"{name}: lines that are not JSON"] += 1
            continue
        text = row.get(column) if isinstance(row, dict) else None
        if isinstance(text, str) and _HALF.search(text):
            problems[f"{name}: lines with half a character, read with � for it"] += 1
            text = _HALF.sub("\ufffd", text)
        yield text


def _rows(piece: Piece, column: str, problems: Counter[str]) -> Iterator[object]:
    file = files.table_of(piece.path)
    if column not in file.schema_arrow.names:
        problems[f"{piece.name}: has no column “{column}”"] += 1
        return
    for batch in file.iter_batches(row_groups=[piece.start], columns=[column]):
        yield from batch.column(0).to_pylist()


def _unread(path: files.File, error: Exception) -> str:
    """Why a file cannot be read; a lost store ends the run instead, which can be resumed."""
    if isinstance(path, files.Stored):
        path.address.check()
    why = str(getattr(error, "strerror", None) or files.why(error)).splitlines()[0][:120]
    return f"{files.name_of(path)}: cannot be read ({why})"


WEIGHTS = 2**23  # of a network that counts a piece as `pieces_of` cuts it in a minute or two
LEAST_BYTES = 2**14  # some thousand tokens: adding up a piece costs as much as some of them


def piece_bytes(sizes: Sizes, device: str) -> int:
    """The bytes of a text file that make one piece.

    The more weights the blocks have, the longer a CPU takes; a GPU is as fast as hundreds of them.
    """
    if device != "cpu":
        return PIECE_BYTES
    attention, ffn = 4 * sizes.d_model**2, 2 * sizes.d_model * sizes.d_ff
    weights = sizes.n_blocks * (attention + ffn)
    return min(PIECE_BYTES, max(LEAST_BYTES, PIECE_BYTES * WEIGHTS // weights))


def cut(pieces: Sequence[Piece], most: int) -> tuple[Piece, ...]:
    """The corpus in pieces of at most so many bytes, numbered anew; what is packed stays whole."""
    cut_pieces: list[Piece] = []
    for piece in pieces:
        if piece.end is None or piece.kind == ".parquet":
            cut_pieces.append(replace(piece, number=len(cut_pieces)))
            continue
        for start, end in stretches(piece.start, piece.end, most):
            cut_pieces.append(replace(piece, number=len(cut_pieces), start=start, end=end))
    return tuple(cut_pieces)


def largest_first(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with the largest first, so that no process works on alone at the end.

    A packed file comes before all, for it is read from end to end by one of them.
    """
    return sorted(
        pieces, key=lambda piece: (piece.end is None, (piece.end or 0) - piece.start), reverse=True
    )
