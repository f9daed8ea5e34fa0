"""A training as a part shows it: what was told so far, and what can be done."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from ffnviz.jobs.learning import Guessing, Learned, Moment


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
        guessing: what guessing by frequency gets.
        n_sentences: that are trained on.
        steps: of the plan.
        before: how many trainings of others must end before it begins.
        learned: the networks where they stopped, if they have.
        problem: why it ended before its time, in words.
    """

    status: Status
    moments: Sequence[Moment] = ()
    guessing: Guessing = field(default_factory=lambda: Guessing(0.0, 0.0))
    n_sentences: int = 0
    steps: int = 0
    before: int = 0
    learned: Learned | None = None
    problem: str = ""
