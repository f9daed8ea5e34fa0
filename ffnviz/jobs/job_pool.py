"""Long computations in a process of their own, beside the pages: first come, first served.

In the pages' own interpreter a long computation would slow down everybody who types. Here it has a
process, which yields whenever a page needs the processor. Whoever asked sees their place in the
queue and the progress, may cancel, and may look at something else meanwhile.

A pool of pebble's kills what is cancelled and ends what takes too long, but knows no place in the
queue, no progress and no end when idle; loky cancels nothing that runs. With either, the queue and
a channel for progress would still be needed, and no code would be saved.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ffnviz.jobs.job import CANCEL, Contention, Job, JobStatus, Order, close, receive, send
from ffnviz.jobs.memory import repeat
from ffnviz.jobs.run_queue import RUN_QUEUE
from ffnviz.models.config import config

NICENESS = 10  # of Unix: a page that is waited for comes first
PACKAGE = Path(__file__).parents[2]
QUIET = {"STREAMLIT_LOGGER_LEVEL": "error"}  # or it repeats that there is no session


def start_worker() -> subprocess.Popen[bytes]:
    """A new process, which waits for its configuration and then for orders."""
    path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(  # noqa: S603  # our own interpreter, a number of ours
        [sys.executable, "-m", "ffnviz.jobs.worker", str(NICENESS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), **QUIET},
    )


MAX_WAITING = 60
LONGEST_S = 600.0
ABANDONED_AFTER_S = 10.0  # whoever returns sooner, as after a gap in the network, finds it there
IDLE_S = 300.0  # then the process ends, and gives its memory back
LOOK_EVERY_S = 2.0
GRACE_S = 1.0  # in which work that was cancelled may stop by itself, and its process lives on

log = logging.getLogger(__name__)


class QueueIsFullError(RuntimeError):
    """The queue is full; the message says how many wait."""


class JobPool:
    """One process and the queue before it; both are made when first needed."""

    def __init__(self, most_waiting: int = MAX_WAITING) -> None:
        self.most_waiting = most_waiting
        self._jobs: list[Job] = []  # the one that runs comes first
        self._took: dict[str, float] = {}  # seconds, by the work and its arguments
        self._changed = threading.Condition()
        self._writing = threading.Lock()  # of messages to the process
        self._process: subprocess.Popen[bytes] | None = None
        self._serving = self._watching = False

    def submit(self, order: Order, wanted: Callable[[], bool] = lambda: True) -> Job:
        """Queue an order, cancelled once nobody is there who wanted it; raises QueueIsFullError."""
        with self._changed:
            if len(self._jobs) >= self.most_waiting:
                raise QueueIsFullError(
                    f"{len(self._jobs)} computations are already waiting. "
                    "Try again in a few minutes."
                )
            job = Job(order, wanted, usual=self._took.get(_kind(order)))
            self._jobs.append(job)
            self._start_serving()
            self._changed.notify_all()
        return job

    def warm_up(self) -> None:
        """Start the process, which takes some seconds, before somebody needs it."""
        with self._changed:
            self._start_serving()

    def before(self, job: Job) -> list[Job]:
        """The jobs that must end before this one begins."""
        with self._changed:
            return self._jobs[: self._jobs.index(job)] if job in self._jobs else []

    def cancel(self, job: Job) -> None:
        """Take a job from the queue, or stop it if it runs."""
        with self._changed:
            runs = job.status is JobStatus.RUNS
            if job.ended:
                return
            job.status = JobStatus.CANCELLED
            if runs:
                self._stop(job)
            else:
                self._jobs.remove(job)

    def _stop(self, job: Job) -> None:
        """Ask the work to stop, and end its process unless it does soon."""

        def insist() -> None:
            with self._changed:
                if self._jobs[:1] == [job]:
                    self._kill()

        process = self._process
        with self._writing, suppress(OSError):
            if process is not None:
                send(process.stdin, CANCEL)
        timer = threading.Timer(GRACE_S, insist)
        timer.daemon = True
        timer.start()

    def send(self, job: Job, message: object) -> None:
        """Send a message to a job that runs, which receives it when it next asks."""
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

    def _start_serving(self) -> None:
        if not self._serving:
            self._serving = True
            threading.Thread(target=self._serve, name="job-pool", daemon=True).start()
            if not self._watching:
                self._watching = True
                repeat("job-pool-watch", LOOK_EVERY_S, self._cancel_unwanted)

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            before, began = RUN_QUEUE.counted.seconds, time.monotonic()
            try:
                answer = self._answer(job)
            except Exception as error:  # whatever it is, the next must be computed
                answer = ("failed", _why(error))
                if job.status is not JobStatus.CANCELLED:
                    log.exception("A computation in the background failed.")
                with self._changed:
                    self._kill()
            took = time.monotonic() - began
            pages = (RUN_QUEUE.counted.seconds - before) / max(took, 1e-9)
            with self._changed:
                self._jobs.remove(job)
                if answer[0] == "done" and job.works is not None:
                    self._took[_kind(job.order)] = time.monotonic() - job.works
                _settle(job, answer, min(1.0, pages))

    def _next(self) -> Job | None:
        """The next job; None if there was none for IDLE_S seconds."""
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
                    job.works = job.works or time.monotonic()
                case ("update", update):
                    job.updates.append(update)
                case _:
                    return message

    def _cancel_unwanted(self) -> None:
        now, jobs = time.monotonic(), list(self._jobs)
        for job in jobs:
            if job.wanted():
                job.seen = now
            # A job behind which others wait is not kept for a visitor who may return.
            patience = ABANDONED_AFTER_S if job is jobs[-1] else 0.0
            too_long = job.began is not None and now - job.began > LONGEST_S
            if now - job.seen > patience or too_long:
                self.cancel(job)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = start_worker()
            send(self._process.stdin, config())
        return self._process

    def _kill(self) -> None:
        """End the process at once, whatever it computes."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            close(process.stdin)
            close(process.stdout)


def _kind(order: Order) -> str:
    """What takes as long as the last time: the same work, with the same arguments."""
    return f"{order.work.__module__}.{order.work.__qualname__} {str(order.args)[:200]}"


def _settle(job: Job, answer: tuple[Any, ...], pages: float) -> None:
    """Take what a job came to, unless it was cancelled; `pages` is their share of the time."""
    if job.status is JobStatus.CANCELLED:
        return
    match answer:  # the status comes last: others look at it without a lock
        case ("failed", problem):
            job.problem = problem
            job.status = JobStatus.FAILED
        case (_, result, processor):
            job.result = result
            job.contention = Contention(processor, pages)
            job.status = JobStatus.DONE


def _why(error: Exception) -> str:
    """Why a computation failed, in words for whoever asked."""
    if isinstance(error, OSError | EOFError):
        return (
            "The process that computed it ended before it was done: "
            f"{type(error).__name__}. Perhaps it ran out of memory. Try again, "
            "with a shorter sentence or fewer repeats."
        )
    return f"Its result could not be passed on ({type(error).__name__}). Try again."


JOB_POOL = JobPool()
