"""A long computation: what is ordered, and what becomes of it."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

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
