"""A long computation: what is ordered, what becomes of it, and what is said meanwhile."""

import pickle
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from queue import SimpleQueue
from typing import IO, Any

from ffnviz.models.card import NetworkSize
from ffnviz.state.state import State

KNOWN = 0.1  # the share of the work from which on it tells how long the rest takes
BUSY = 0.05  # the share of the time, or of a processor, from which on the machine was shared


class JobStatus(Enum):
    """The stages of a job, and its possible ends."""

    WAITS = "waits"
    RUNS = "runs"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Order:
    """A computation to be made; all of it can be pickled."""

    work: Callable[..., object]  # a module's function of a Run, a Channel and the args
    state: State | None  # that the Run is made of; None: work is called with None
    device: str  # where its networks run
    networks: Mapping[str, NetworkSize]  # all that the server offers
    args: tuple[Any, ...] = ()


def outcome(made: Any, tell: Callable[[Any], None] = lambda _: None) -> Any:
    """The result of a work, which may have yielded results so far: each is told, the last whole."""
    if isinstance(made, Iterator):
        for so_far in made:
            tell(so_far)
            made = so_far
    return made


@dataclass(frozen=True)
class Contention:
    """How much a computation had to share the machine."""

    processor: float  # the share of a processor that it got, from 0 to 1
    pages: float  # the share of the time in which pages were made, from 0 to 1

    @property
    def matters(self) -> bool:
        """Whether it may have taken longer because of that."""
        return self.processor < 1 - BUSY or self.pages > BUSY


@dataclass(eq=False)
class Job:
    """An order and its progress."""

    order: Order
    wanted: Callable[[], bool] = lambda: True  # whether whoever asked is still there
    status: JobStatus = JobStatus.WAITS
    share: float = 0.0  # how much of it is done, from 0 to 1
    updates: list[Any] = field(default_factory=list)  # its intermediate results
    result: Any = None
    problem: str = ""  # why there is no result, in words
    contention: Contention | None = None
    seen: float = field(default_factory=time.monotonic)  # when it was last wanted
    began: float | None = None
    works: float | None = None  # since when its work itself runs
    usual: float | None = None  # the seconds that the same work took the last time

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status not in (JobStatus.WAITS, JobStatus.RUNS)

    @property
    def left(self) -> float | None:
        """The seconds that it will take from now on, by the last time or by its progress."""
        elapsed = 0.0 if self.works is None else time.monotonic() - self.works
        if self.usual is not None and elapsed < self.usual:
            return self.usual - elapsed
        return elapsed * (1 - self.share) / self.share if self.share >= KNOWN else None


REPORT_EVERY_S = 0.1
CANCEL = "cancel"  # a message to the work under way


class Cancelled(BaseException):  # no error, and nothing that works on should catch it
    """Nobody waits for the work any more."""


class Channel:
    """A computation's connection to whoever ordered it; called with the share that is done."""

    def __init__(
        self, answers: IO[bytes], messages: SimpleQueue[Any], cancelled: threading.Event
    ) -> None:
        self._answers, self._messages, self._cancelled = answers, messages, cancelled
        self._last_sent = 0.0

    def __call__(self, share: float) -> None:
        """Report how much is done, from 0 to 1; raises Cancelled if nobody waits for it."""
        self._go_on()
        now = time.monotonic()
        if now - self._last_sent > REPORT_EVERY_S:
            self._last_sent = now
            send(self._answers, ("share", min(1.0, share)))

    def send(self, update: object) -> None:
        """Send an intermediate result; raises as a report does."""
        self._go_on()
        send(self._answers, ("update", update))

    def _go_on(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    def received(self) -> list[Any]:
        """The messages to this work since the last call."""
        return [self._messages.get() for _ in range(self._messages.qsize())]


def send(pipe: IO[bytes] | None, message: object) -> None:
    """Write one message into a pipe between two processes of ours."""
    assert pipe is not None  # noqa: S101
    pickle.dump(message, pipe)
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> Any:
    """Read one message from a pipe between two processes of ours; EOFError if it was closed."""
    assert pipe is not None  # noqa: S101
    return pickle.load(pipe)  # noqa: S301  # from our own process


def close(pipe: IO[bytes] | None) -> None:
    """Close a pipe between two processes of ours, of which one may be gone."""
    assert pipe is not None  # noqa: S101
    with suppress(OSError):  # what was not yet written to a process that is gone
        pipe.close()
