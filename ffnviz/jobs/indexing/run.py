"""Counting a whole corpus; a run that was stopped is resumed."""

import hashlib
import json
import math
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

import torch

from ffnviz.analysis.neurons import gathering, histogram, partners
from ffnviz.analysis.neurons.counting import EXAMPLES, IndexPart, merge
from ffnviz.analysis.neurons.index_file import read_part, write_part
from ffnviz.analysis.neurons.partners import Sketching
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.jobs.indexing.files import Stored
from ffnviz.jobs.indexing.sources import Piece, largest_first, texts_of
from ffnviz.jobs.memory import end_with_parent
from ffnviz.models.card import Sizes
from ffnviz.models.encoder.linear import take_onednn
from ffnviz.models.external.memory import gigabytes, keep_what_is_free
from ffnviz.models.network import Network
from ffnviz.models.registry import load

PLACES = 2**36  # texts that a piece may have


@dataclass(frozen=True)
class IndexingJob:
    """The settings that all pieces of a corpus share."""

    network: str  # what `load` takes
    device: str = "cpu"  # by name
    # dtype, revision: of a network that is not ours
    dtype: str | None = None
    revision: str | None = None
    blocks: tuple[int, ...] | None = None  # from 0; None: all
    tags: tuple[str, ...] = ()  # the names of all files, if each is a tag
    column: str = "text"  # of .jsonl and .parquet files
    longest: int = gathering.LONGEST  # tokens of a text; a longer one is cut
    onednn: bool = False  # whether our networks take its products: all processes count alike


_HELD: dict[IndexingJob, gathering.Gatherer] = {}


def gatherer_of(job: IndexingJob) -> gathering.Gatherer:
    """The job's Gatherer, whose network is loaded once in each process."""
    if job not in _HELD:
        hold(job, load(job.network, job.device, dtype=job.dtype, revision=job.revision))
    return _HELD[job]


def hold(job: IndexingJob, network: Network) -> None:
    """Have this process count the job with a network that is loaded already.

    One thread: how a matrix product is split among threads changes its last bits, as does the
    library, and more processes use a machine's cores better than more threads.
    """
    torch.set_num_threads(1)
    take_onednn(job.onednn)
    keep_what_is_free()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    _HELD[job] = gathering.Gatherer(network, job.tags, job.blocks, job.longest)


def count(
    job: IndexingJob, piece: Piece, reading: Callable[[int], None] = lambda _: None
) -> IndexPart:
    """Count one piece; `reading` is called now and then with the tokens read so far."""
    problems: Counter[str] = Counter()
    tags = (piece.tag,) if job.tags else ()

    def texts() -> Iterator[Probe]:
        for text in texts_of(piece, job.column, problems):
            yield Probe(text, tags)

    part = gatherer_of(job).gather(texts(), piece.number * PLACES, reading)
    return replace(part, problems=dict(problems))


AHEAD = 2  # pieces that a process has at once, so that it need not wait for the next


class ProcessEndedError(ValueError):
    """One of the processes ended before it was done; the message says how to go on."""


def run_local(
    job: IndexingJob, pieces: Sequence[Piece], reading: Callable[[int], None], workers: int
) -> Iterator[tuple[list[int], IndexPart]]:
    """Each piece's number and its counts, as they come in.

    Progress within a piece is reported by one worker alone, which is this process. Raises
    ProcessEndedError if a worker was killed.
    """
    if workers == 1:
        for piece in pieces:
            yield [piece.number], count(job, piece, reading)
        return
    waiting = iter(pieces)
    with _processes(job, min(workers, len(pieces))) as processes:
        running: dict[Connection, list[int]] = {connection: [] for connection in processes}
        for connection in list(processes) * AHEAD:
            _order(connection, running[connection], waiting)
        while busy := [connection for connection, numbers in running.items() if numbers]:
            ready = wait(busy)
            for connection in (each for each in busy if each in ready):
                part = _answer(connection, processes[connection])
                number = running[connection].pop(0)
                _order(connection, running[connection], waiting)
                yield [number], part


def _order(connection: Connection, numbers: list[int], waiting: Iterator[Piece]) -> None:
    for piece in islice(waiting, 1):
        with suppress(BrokenPipeError):  # it has ended, as is seen where its answer is read
            connection.send(piece)
        numbers.append(piece.number)


def _answer(connection: Connection, process: SpawnProcess) -> IndexPart:
    try:
        part = connection.recv()
    except (EOFError, OSError) as error:
        process.join()
        raise ProcessEndedError(
            f"A process ended before it was done (exit code {process.exitcode}): perhaps "
            "memory ran out. Give the same command again, with fewer --workers."
        ) from error
    if isinstance(part, Exception):
        raise part
    assert isinstance(part, IndexPart)  # noqa: S101
    return part


def _work(job: IndexingJob, connection: Connection) -> None:
    """Count what is sent, until nothing more comes.

    Ctrl-C reaches all processes of a terminal, and SIGTERM all of a service: only the one that
    adds up is to act on it. This one ends when that one does, whatever ended it.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    end_with_parent()
    while True:
        try:
            piece = connection.recv()
        except EOFError:
            return
        try:
            part: IndexPart | Exception = count(job, piece)
        except Exception as error:  # whoever waits for it is told
            part = error
        connection.send(part)


@contextmanager
def _processes(job: IndexingJob, n: int) -> Iterator[dict[Connection, SpawnProcess]]:
    """Processes that end at once when they are left early: a piece may take minutes.

    Each has a pipe of its own: where several write into one, nobody can read on after a process
    that was ended half way through.
    """
    context = get_context("spawn")  # PyTorch's threads do not survive a fork
    processes: dict[Connection, SpawnProcess] = {}
    try:
        for _ in range(n):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(job, there), daemon=True)
            processes[here] = process
            process.start()
            there.close()  # so that the pipe ends with the process
        yield processes
    except BaseException:
        for process in processes.values():
            if process.pid is not None:
                process.kill()
        raise
    finally:
        for connection, process in processes.items():
            connection.close()
            if process.pid is not None:
                process.join()


PROCESS = 350 * 2**20  # Python, PyTorch and pyarrow themselves
PARTS = 3  # at a time: the counts so far, new ones, and their sum
BATCHES = 6  # hidden values of a batch, and intermediate values as large
COUNT, VALUE, TOKEN = 8, 4, 4  # bytes: int64, float32, int32
WAITING = 36  # bytes of a token that waits: a number of Python's, and its place in a list


@dataclass(frozen=True)
class MemoryEstimate:
    """Estimated bytes of each process."""

    part: int  # of the counts of all blocks
    waiting: int  # of buffers for the sketches of all blocks
    weights: int  # of the network
    batch: int  # of the values of one pass
    processes: int  # that each hold all of these

    @property
    def each(self) -> int:
        """The most bytes that one process takes."""
        return PROCESS + self.weights + self.batch + self.waiting + PARTS * self.part

    @property
    def in_words(self) -> str:
        """The estimate in words."""
        more = self.processes > 1
        return (
            f"About {gigabytes(self.each)}{' in each of ' * more}"
            f"{f'{self.processes} processes' * more}: {gigabytes(self.weights)} of weights, "
            f"up to {PARTS} copies of {gigabytes(self.part)} of counts"
            f"{f', {gigabytes(self.waiting)} of buffers' * bool(self.waiting)}."
        )


def part_bytes(
    sizes: Sizes, n_blocks: int, n_tags: int, signed: bool, longest: int = gathering.LONGEST
) -> int:
    """The bytes of an IndexPart's arrays for so many blocks, without its example texts."""
    d_ff, n_positions = sizes.d_ff, min(longest, sizes.max_tokens)
    sketched = partners.M if d_ff <= partners.MOST else 0
    counts = n_positions + len(gathering.TokenClass) + histogram.BINS + sketched + 6
    counts += (1 + signed) * n_tags
    of_block = d_ff * (COUNT * counts + (1 + signed) * EXAMPLES * (VALUE + COUNT + TOKEN))
    return n_blocks * of_block + COUNT * (n_positions + len(gathering.TokenClass) + n_tags)


def waiting_bytes(d_ff: int) -> int:
    """The bytes that a block's Sketching holds beside the sketch itself."""
    sketching = Sketching(d_ff, torch.device("cpu"))  # not written to, it takes no memory yet
    held = sum(each.nbytes for each in vars(sketching).values() if isinstance(each, torch.Tensor))
    sketched = partners.M if d_ff <= partners.MOST else 0
    return held - COUNT * sketched * d_ff


def estimated_memory(
    sizes: Sizes,
    n_blocks: int,  # that are counted
    n_tags: int,
    bytes_each: int,  # of a weight; 0 if a GPU's memory has the network and the buffers
    processes: int,  # on this machine, with the one that adds up
    signed: bool,  # whether hidden can be below zero
    longest: int = gathering.LONGEST,  # tokens of a text
) -> MemoryEstimate:
    """The memory that counting takes.

    A text of more tokens than a batch has is a batch of its own, and texts wait for others of their
    length.
    """
    longest = min(longest, sizes.max_tokens)
    values = max(
        min(gathering.BATCH_TOKENS * sizes.d_ff, gathering.BATCH_VALUES), longest * sizes.d_ff
    )
    texts = WAITING * longest * gathering.BATCH_TOKENS
    return MemoryEstimate(
        part_bytes(sizes, n_blocks, n_tags, signed, longest),
        n_blocks * waiting_bytes(sizes.d_ff) if bytes_each else 0,
        sizes.n_parameters * bytes_each,
        BATCHES * VALUE * values + texts,
        processes,
    )


def too_much(estimate: MemoryEstimate, n_blocks: int, free: int) -> str | None:
    """Why an estimate does not fit into so many bytes, and what would; None if it fits."""
    if estimate.each * estimate.processes <= free:
        return None
    of_blocks = PARTS * estimate.part + estimate.waiting
    fixed = estimate.each - of_blocks
    most = math.floor((free / estimate.processes - fixed) / (of_blocks / n_blocks))
    problem = f"{estimate.in_words} {gigabytes(max(0, free))} is free on this machine."
    fewer = [f"look at fewer blocks at a time, at most {most}: --blocks"] * (0 < most < n_blocks)
    fewer += ["use fewer --workers"] * (estimate.processes > 1)
    advice = " or ".join(fewer) or "take a machine with more memory"
    return f"{problem} It may not fit: {advice}."


SAVE_EVERY_S = 60.0

Engine = Callable[
    [IndexingJob, Sequence[Piece], Callable[[int], None]], Iterator[tuple[list[int], IndexPart]]
]


@dataclass(frozen=True)
class IndexingReport:
    """The progress of a run."""

    done: int  # pieces
    tokens: int  # read so far


def counted(
    job: IndexingJob,
    pieces: Sequence[Piece],
    engine: Engine,
    kept: Path,
    report: Callable[[IndexingReport], None] = lambda _: None,
    save_every_s: float = SAVE_EVERY_S,
) -> IndexPart:
    """Count all pieces, and add them up.

    The engine yields parts in any order, each of any number of pieces; it may report how many
    tokens are read of a piece that is not done. `kept` is a file for the counts so far: it is used
    if it is of the same job and pieces.
    """
    run_id = _run_id(job, pieces, gatherer_of(job).network)
    # One value, so that an interrupt at any moment finds a part together with its pieces.
    now = written = read_part(kept, run_id) or (gatherer_of(job).empty(), set())
    saved = time.monotonic()

    def reading(n_tokens: int) -> None:
        part, done = now
        report(IndexingReport(len(done), part.n_tokens + n_tokens))

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
