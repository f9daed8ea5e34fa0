"""Long computations in a process of their own, beside the pages: first come, first served.

In the pages' own interpreter a long computation would slow down everybody who types. Here it has a
process, which steps back whenever a page needs the processor. Whoever asked sees their place in the
queue and how far it is, may cancel, and may look at something else meanwhile.

A pool of pebble's kills what is cancelled and ends what takes too long, but knows no place in the
queue, no progress and no end for want of work; loky cancels nothing that runs. With either, the
queue and a channel for progress would still be here, and no code would be saved.
"""

import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO, Any

from ffnviz.jobs.daemon_threads import repeat
from ffnviz.jobs.run_queue import RUN_QUEUE, RunQueue
from ffnviz.models.card import NetworkSize
from ffnviz.models.config import config
from ffnviz.state.state import State

MAX_WAITING = 60
STEP_BACK = 10  # of Unix' niceness: a page that is waited for comes first
LONGEST_S = 600.0
ABANDONED_AFTER_S = (
    10.0  # who comes back sooner, as after a gap in the network, finds it still on its way
)
IDLE_S = 300.0  # then the process ends, and gives its memory back
LOOK_EVERY_S = 2.0
BUSY = 0.05  # a share of the time, or of a processor, from which on the machine was shared
PACKAGE = Path(__file__).parents[2]
QUIET = {"STREAMLIT_LOGGER_LEVEL": "error"}  # or it says again and again that there is no session

log = logging.getLogger(__name__)


class QueueIsFullError(RuntimeError):
    """The queue is full; the message says how long it is."""


class JobStatus(Enum):
    """What became of a job."""

    WAITS = "waits"
    RUNS = "runs"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Order:
    """What to compute; all of it can be pickled."""

    # a function of a module, called with a Run, what is told the progress, and the rest
    work: Callable[..., object]
    state: State | None  # what the Run is of; None: work is called with None
    device: str  # where its networks run
    networks: Mapping[str, NetworkSize]  # all there are
    args: tuple[Any, ...] = ()  # the rest


@dataclass(frozen=True)
class Contention:
    """How much a computation had to share the machine."""

    processor: float  # the share of a processor that it got, from 0 to 1
    pages: float  # the share of the time in which pages were made, from 0 to 1

    @property
    def matters(self) -> bool:
        """Whether it may have taken longer for that."""
        return self.processor < 1 - BUSY or self.pages > BUSY


@dataclass(eq=False)
class Job:
    """An order on its way."""

    order: Order  # what to compute
    wanted: Callable[[], bool] = lambda: True  # whether whoever asked is still there
    status: JobStatus = JobStatus.WAITS  # what has become of it
    share: float = 0.0  # how much of it is done, from 0 to 1
    told: list[Any] = field(default_factory=list)  # what it told on its way, if it does
    result: Any = None  # what came out
    problem: str = ""  # why nothing did, in words
    contention: Contention | None = None  # how much it had to share the machine
    seen: float = field(default_factory=time.monotonic)
    began: float | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status not in (JobStatus.WAITS, JobStatus.RUNS)


class JobPool:
    """One process and the queue before it; both are made when first needed."""

    def __init__(self, most_waiting: int = MAX_WAITING, turns: RunQueue = RUN_QUEUE) -> None:
        self.most_waiting = most_waiting
        self._turns = turns
        self._jobs: list[Job] = []  # the one that runs comes first
        self._changed = threading.Condition()
        self._writing = threading.Lock()  # of messages to the process
        self._process: subprocess.Popen[bytes] | None = None
        self._serving = self._watched = False

    def submit(self, order: Order, wanted: Callable[[], bool] = lambda: True) -> Job:
        """Put an order at the end of the queue.

        Args:
            order: what to compute.
            wanted: whether whoever asked is still there; it is dropped when they have gone.

        Raises:
            QueueIsFullError: if too many wait; in words for whoever asked.
        """
        with self._changed:
            if len(self._jobs) >= self.most_waiting:
                raise QueueIsFullError(
                    f"{len(self._jobs)} computations wait already. Try again in some minutes."
                )
            job = Job(order, wanted)
            self._jobs.append(job)
            self._serve_from_now_on()
            self._changed.notify_all()
        return job

    def warm_up(self) -> None:
        """Start the process, which takes some seconds, before somebody needs it."""
        with self._changed:
            self._serve_from_now_on()

    def before(self, job: Job) -> list[Job]:
        """The jobs that must end before this one begins."""
        with self._changed:
            return self._jobs[: self._jobs.index(job)] if job in self._jobs else []

    def cancel(self, job: Job) -> None:
        """Take a job from the queue, or stop it at once if it runs."""
        with self._changed:
            runs = job.status is JobStatus.RUNS
            if job.ended:
                return
            job.status = JobStatus.CANCELLED
            if runs:
                self._kill()
            else:
                self._jobs.remove(job)

    def say(self, job: Job, message: object) -> None:
        """Say something to a job that runs; it hears it when it next asks."""
        with self._writing, suppress(OSError):  # the process may just have ended
            if job.status is JobStatus.RUNS and self._jobs[:1] == [job] and self._process:
                send(self._process.stdin, message)

    @property
    def queue(self) -> int:
        """The number of jobs that wait or run."""
        return len(self._jobs)

    def end(self) -> None:
        """Stop the process; another starts when one is needed."""
        with self._changed:
            self._kill()

    def _serve_from_now_on(self) -> None:
        if not self._serving:
            self._serving = True
            threading.Thread(target=self._serve, name="job-pool", daemon=True).start()
            if not self._watched:
                self._watched = True
                repeat("job-pool-watch", LOOK_EVERY_S, self._drop_what_nobody_wants)

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            before, began = self._turns.counted.seconds, time.monotonic()
            try:
                answer = self._answer(job)
            except Exception as error:  # whatever it is, the next must be computed
                answer = ("failed", _why(error))
                if job.status is not JobStatus.CANCELLED:
                    log.exception("A computation beside the pages came to nothing.")
                with self._changed:
                    self._kill()
            took = time.monotonic() - began
            pages = (self._turns.counted.seconds - before) / max(took, 1e-9)
            with self._changed:
                self._jobs.remove(job)
                self._settle(job, answer, min(1.0, pages))

    def _next(self) -> Job | None:
        """The next job; None if there was none for long."""
        with self._changed:
            with suppress(OSError):  # if it cannot start now, perhaps it can for the next
                self._started()
            while not self._jobs:
                if not self._changed.wait(IDLE_S) and not self._jobs:
                    self._kill()
                    self._serving = False
                    return None
            job = self._jobs[0]
            job.status, job.began = JobStatus.RUNS, time.monotonic()
            return job

    def _settle(self, job: Job, answer: tuple[Any, ...], pages: float) -> None:
        if job.status is JobStatus.CANCELLED:
            return
        if answer[0] == "failed":
            job.status, job.problem = JobStatus.FAILED, answer[1]
            return
        job.result, job.contention = answer[1], Contention(answer[2], pages)
        job.status = JobStatus.DONE

    def _answer(self, job: Job) -> tuple[Any, ...]:
        with self._changed:
            if job.ended:  # cancelled since
                return ("failed", "")
            process = self._started()
        with self._writing:
            send(process.stdin, job.order)
        while True:
            message: tuple[Any, ...] = receive(process.stdout)
            match message:
                case ("share", share):
                    job.share = share
                case ("told", told):
                    job.told.append(told)
                case _:
                    return message

    def _drop_what_nobody_wants(self) -> None:
        now, jobs = time.monotonic(), list(self._jobs)
        for job in jobs:
            if job.wanted():
                job.seen = now
            # Where somebody waits behind it, it is not kept for who may come back.
            patience = ABANDONED_AFTER_S if job is jobs[-1] else 0.0
            too_long = job.began is not None and now - job.began > LONGEST_S
            if now - job.seen > patience or too_long:
                self.cancel(job)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter, a number of ours
                [sys.executable, "-m", "ffnviz.jobs.worker", str(STEP_BACK)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), **QUIET},
            )
            send(self._process.stdin, config())
        return self._process

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None and not pipe.closed:
                    close(pipe)


def _why(error: Exception) -> str:
    """What is said to whoever asked for a computation that failed."""
    if isinstance(error, OSError | EOFError):
        return (
            "The process that computed it ended before it was done: "
            f"{type(error).__name__}. Perhaps its memory did not suffice. Try again, "
            "with a shorter sentence or fewer repeats."
        )
    return f"Its result could not be passed on ({type(error).__name__}). Try again."


def close(pipe: IO[bytes]) -> None:
    """Close a pipe between two processes of ours, of which one may be gone."""
    with suppress(OSError):  # what was not yet written to a process that is gone
        pipe.close()


def send(pipe: IO[bytes] | None, message: object) -> None:
    """Write one message into a pipe between two processes of ours."""
    assert pipe is not None  # noqa: S101
    pickle.dump(message, pipe)
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> Any:
    """Read one message from a pipe between two processes of ours.

    Raises:
        EOFError: if the other end was closed.
    """
    assert pipe is not None  # noqa: S101
    return pickle.load(pipe)  # noqa: S301  # from our own process


JOB_POOL = JobPool()
