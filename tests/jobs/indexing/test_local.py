"""A corpus counted by one process, by two, and by a run that was killed: the same bytes."""

import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from ffnviz.analysis.neurons.counting import IndexPart
from ffnviz.analysis.neurons.index_file import write_index
from ffnviz.analysis.neurons.neuron_index import finish
from ffnviz.jobs.indexing import sources
from ffnviz.jobs.indexing.run import (
    Engine,
    IndexingJob,
    IndexingReport,
    ProcessEndedError,
    count,
    counted,
    gatherer_of,
    run_local,
)
from ffnviz.jobs.indexing.sources import Piece, pieces_of

JOB = IndexingJob("relu", tags=("one", "two"))


@pytest.fixture
def pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Piece, ...]:
    monkeypatch.setattr(sources, "PIECE_BYTES", 300)
    # A visit without a browser leaves the page as the main module, which a process would import.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    folder = tmp_path / "books"
    folder.mkdir()
    lines = [f"The {word} had {n} dogs.\n" for n, word in enumerate(["cat", "man", "sea"] * 10)]
    (folder / "one.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "two.txt").write_text("".join(reversed(lines)), encoding="utf-8")
    found, _ = pieces_of([folder])
    assert len(found) > 4
    return found


def index_bytes(part: IndexPart, path: Path, job: IndexingJob = JOB) -> bytes:
    write_index(finish(part, "books", job.tags, gatherer_of(job)), path)
    return path.read_bytes()


def whole(pieces: Sequence[Piece], engine: Engine, kept: Path, job: IndexingJob = JOB) -> bytes:
    part = counted(job, pieces, engine, kept)
    assert not kept.exists()
    return index_bytes(part, kept.with_suffix(".index"), job)


def backwards(
    job: IndexingJob, pieces: Sequence[Piece], *_: object
) -> Iterator[tuple[list[int], IndexPart]]:
    for piece in reversed(pieces):
        yield [piece.number], count(job, piece)


def test_processes_in_any_order_give_the_same_file(
    pieces: tuple[Piece, ...], tmp_path: Path
) -> None:
    one = whole(pieces, partial(run_local, workers=1), tmp_path / "kept")
    assert whole(pieces, partial(run_local, workers=2), tmp_path / "kept") == one
    assert whole(pieces, backwards, tmp_path / "kept") == one


def stopped(
    job: IndexingJob, left: Sequence[Piece], *_: object
) -> Iterator[tuple[list[int], IndexPart]]:
    """Somebody presses Ctrl+C after three pieces."""
    for piece in left[:3]:
        yield [piece.number], count(job, piece)
    raise KeyboardInterrupt


def test_a_run_that_is_stopped_keeps_what_was_counted_and_nothing_of_another_run(
    pieces: tuple[Piece, ...], tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        counted(JOB, pieces, stopped, kept)
    seen: list[IndexingReport] = []
    counted(JOB, pieces, backwards, kept, seen.append)
    assert seen[0].done == 3
    assert seen[-1].done == len(pieces)
    for damage in (b"", b"no file of ours"):
        kept.write_bytes(damage)
        told: list[IndexingReport] = []
        counted(JOB, pieces[:1], backwards, kept, told.append)
        assert told[0].done == 0


def test_a_run_that_was_killed_goes_on_and_counts_nothing_twice(
    pieces: tuple[Piece, ...], tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    for _ in range(2):  # nor is what the second time adds
        with pytest.raises(KeyboardInterrupt):
            counted(JOB, pieces, stopped, kept, save_every_s=0)
    told: list[IndexingReport] = []
    part = counted(JOB, pieces, backwards, kept, told.append)
    assert told[0].done > 2
    assert [each.done for each in told[1:]] == list(range(told[0].done + 1, len(pieces) + 1))
    one = whole(pieces, partial(run_local, workers=1), tmp_path / "other")
    assert index_bytes(part, tmp_path / "again") == one


def test_one_process_tells_what_it_has_read_of_a_piece_that_is_not_done(
    pieces: tuple[Piece, ...], tmp_path: Path
) -> None:
    told: list[IndexingReport] = []
    part = counted(JOB, pieces, partial(run_local, workers=1), tmp_path / "kept", told.append)
    tokens = [each.tokens for each in told]
    assert tokens == sorted(tokens)
    assert tokens[-1] == part.n_tokens
    early = [b for a, b in pairwise(told) if b.done == a.done and b.tokens > a.tokens]
    assert len(early) >= len(pieces)


def test_what_fails_in_a_process_or_kills_it_fails_here_in_a_sentence(
    pieces: tuple[Piece, ...], tmp_path: Path
) -> None:
    job = IndexingJob(str(tmp_path / "no network"))
    with pytest.raises(ValueError, match="no network"):
        list(run_local(job, pieces, lambda _: None, workers=2))
    assert not multiprocessing.active_children()
    assert len(pieces) > 5  # the two have at most five before they are killed
    parts = run_local(JOB, pieces, lambda _: None, workers=2)
    next(parts)
    for process in multiprocessing.active_children():  # as the system does when memory runs out
        process.kill()
    with pytest.raises(ProcessEndedError, match=r"exit code -9.*with fewer --workers"):
        list(parts)
    assert not multiprocessing.active_children()
