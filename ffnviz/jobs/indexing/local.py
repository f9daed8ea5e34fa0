"""Counting in processes of this machine, each with its own copy of the network."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from ffnviz.analysis.neurons.counting import IndexPart
from ffnviz.jobs.indexing.job import IndexingJob, count
from ffnviz.jobs.indexing.sources import Piece
from ffnviz.jobs.parent import end_with_parent

AHEAD = 2  # pieces that a process has at once, so that it need not wait for the next


class ProcessEndedError(ValueError):
    """One of the processes ended before it was done; the message says how to go on."""


def run_local(
    job: IndexingJob, pieces: Sequence[Piece], reading: Callable[[int], None], workers: int
) -> Iterator[tuple[list[int], IndexPart]]:
    """Each piece's number and its counts, as they come in.

    Progress within a piece is reported by one worker alone, which is this process.

    Raises:
        ProcessEndedError: if a worker was killed.
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
