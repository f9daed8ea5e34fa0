"""A training as a part shows it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from ffnviz.jobs.learning import Learned, Moment, Reading


class Status(Enum):
    """The status of a training."""

    NEW = "new"
    WAITS = "waits"
    RUNS = "runs"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True)
class Course:
    """A training so far."""

    status: Status
    moments: Sequence[Moment] = ()  # records of the networks, the first before their first step
    reading: Reading = field(default_factory=Reading)  # what is read
    file: str = ""  # the name of the visitor's own text that is read, or will be
    steps: int = 0  # of the plan
    before: int = 0  # how many trainings of others must end before it begins
    learned: Learned | None = None  # the networks where they stopped, if they have
    problem: str = ""  # why it ended before its time, in words
    recorded: bool = False  # whether it is one that comes with the package
    networks: tuple[str, ...] = ()  # the names of the variants that are trained; empty before
