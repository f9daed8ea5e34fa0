"""Counting a whole corpus; a run that was stopped is resumed."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ffnviz.analysis.neurons.counting import IndexPart, merge
from ffnviz.analysis.neurons.index_file import read_part, write_part
from ffnviz.jobs.indexing.job import IndexingJob, gatherer_of
from ffnviz.jobs.indexing.sources import Piece
from ffnviz.jobs.indexing.stores import Stored
from ffnviz.jobs.indexing.work_splitting import largest_first

SAVE_EVERY_S = 60.0

Engine = Callable[
    [IndexingJob, Sequence[Piece], Callable[[int], None]], Iterator[tuple[list[int], IndexPart]]
]


@dataclass(frozen=True)
class IndexingReport:
    """The progress of a run: pieces done, all pieces, and tokens read so far."""

    done: int
    each: int
    tokens: int


def counted(
    job: IndexingJob,
    pieces: Sequence[Piece],
    engine: Engine,
    kept: Path,
    report: Callable[[IndexingReport], None] = lambda _: None,
    save_every_s: float = SAVE_EVERY_S,
) -> IndexPart:
    """Count all pieces, and add them up.

    Args:
        job: what to count.
        pieces: of the corpus.
        engine: yields parts, in any order and each of any number of pieces. It may report how many
            tokens are read of a piece that is not done.
        kept: a file for the counts so far. It is used if it is of the same job and pieces, and
            removed at the end.
        report: called with the progress.
        save_every_s: seconds between two writes; it is also written when the run is broken off.
    """
    run_id = _run_id(job, pieces, gatherer_of(job).network)
    # One value, so that an interrupt at any moment finds a part together with its pieces.
    now = written = read_part(kept, run_id) or (gatherer_of(job).empty(), set())
    saved = time.monotonic()

    def reading(n_tokens: int) -> None:
        part, done = now
        report(IndexingReport(len(done), len(pieces), part.n_tokens + n_tokens))

    reading(0)
    left = largest_first([piece for piece in pieces if piece.number not in now[1]])
    parts = engine(job, left, reading)
    try:
        for numbers, more in parts:
            now = merge(now[0], more), now[1] | set(numbers)
            reading(0)
            if time.monotonic() - saved > save_every_s:
                write_part(*now, run_id, kept)
                written, saved = now, time.monotonic()
    except BaseException:  # Ctrl-C, a store or a cluster that is lost
        if isinstance(parts, Generator):
            parts.close()  # ends the processes, too, if it is not they that broke off
        if now is not written:
            write_part(*now, run_id, kept)
        raise
    part, done = now
    if len(done) < len(pieces):
        raise RuntimeError(f"Only {len(done)} of {len(pieces)} pieces were counted.")
    kept.unlink(missing_ok=True)
    return part


def with_problems(part: IndexPart, problems: dict[str, int]) -> IndexPart:
    """The part with the problems found before anything was read."""
    return replace(part, problems=dict(Counter(part.problems) + Counter(problems)))


def _run_id(job: IndexingJob, pieces: Sequence[Piece], fingerprint: str) -> str:
    """A hash of the job, the network's weights, and the files with their sizes."""
    about = [asdict(job) | {"device": "", "fingerprint": fingerprint}]
    for piece in pieces:
        if isinstance(piece.path, Stored):
            path, size = piece.path.shown, piece.path.size
        else:
            path = str(piece.path.resolve())
            size = piece.path.stat().st_size if piece.path.exists() else -1
        about.append({**asdict(piece), "path": path, "size": size})
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()
