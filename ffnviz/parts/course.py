"""A training as a part shows it: what was told so far, and what can be done."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from ffnviz.jobs.learning import Learned, Moment, Reading


class Status(Enum):
    """How a training stands."""

    NEW = "new"
    WAITS = "waits"
    RUNS = "runs"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True)
class Course:
    """A training so far.

    Attributes:
        status: how it stands.
        moments: what was told of the networks, the first before their first step.
        reading: what is read.
        file: the name of a text of one's own that is, or will be.
        steps: of the plan.
        before: how many trainings of others must end before it begins.
        learned: the networks where they stopped, if they have.
        problem: why it ended before its time, in words.
        recorded: whether it is one that the package brings.
    """

    status: Status
    moments: Sequence[Moment] = ()
    reading: Reading = field(default_factory=Reading)
    file: str = ""
    steps: int = 0
    before: int = 0
    learned: Learned | None = None
    problem: str = ""
    recorded: bool = False
