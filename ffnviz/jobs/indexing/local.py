"""Counting in processes of this machine, each with its own copy of the network."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice

from ffnviz.analysis.neurons.index_part import IndexPart
from ffnviz.jobs.indexing.job import IndexingJob, count
from ffnviz.jobs.indexing.sources import Piece

AHEAD = 2  # pieces submitted for each process; more parts would wait in memory


def run_local(
    job: IndexingJob, pieces: Sequence[Piece], reading: Callable[[int], None], workers: int
) -> Iterator[tuple[list[int], IndexPart]]:
    """Each piece's number and its counts, as they come in.

    Progress within a piece is reported by one worker alone, which is this process.
    """
    if workers == 1:
        for piece in pieces:
            yield [piece.number], count(job, piece, reading)
        return
    waiting = iter(pieces)
    running: dict[Future[IndexPart], int] = {}
    with _processes(workers) as pool:
        while True:
            for piece in islice(waiting, AHEAD * workers - len(running)):
                running[pool.submit(count, job, piece)] = piece.number
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield [running.pop(future)], future.result()


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()  # a killed process tells nobody, but its end of a pipe closes
        os._exit(1)


@contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool that ends at once when it is left early: a piece may take minutes.

    Ctrl-C reaches all processes of a terminal; only this one is to act on it. The others end when
    this one does, whatever ended it.
    """
    others = set(multiprocessing.active_children())
    # PyTorch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_begin)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    pool.shutdown()
