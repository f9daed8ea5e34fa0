"""Small networks trained side by side, beside the pages: what the page Learn asks for."""

import pickle
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from ffnviz.jobs.training_cores import training_core
from ffnviz.training.learn.learner import Guessing, Learner, Plan, guessing_by_frequency
from ffnviz.training.learn.record import Record
from ffnviz.training.learn.saving import zipped
from ffnviz.training.learn.text import text_read

LONGEST_S = 540.0  # of the clock; the pool's own end would lose all
PAUSE = "pause"

Moment = tuple[Record, ...]  # one a network, of the same step


@dataclass(frozen=True)
class Reading:
    """What is read."""

    # how well guessing by frequency does there
    guessing: Guessing = field(default_factory=lambda: Guessing(0.0, 0.0))
    # n_sentences, n_held_out: to train on, and unseen
    n_sentences: int = 0
    n_held_out: int = 0
    labels: tuple[str, ...] = ()  # the entries of the vocabulary, by their ids


class Channel(Protocol):
    """What jobs/worker.py gives: see there."""

    def __call__(self, share: float) -> None: ...
    def tell(self, something: object) -> None: ...
    def heard(self) -> list[Any]: ...


@dataclass(frozen=True)
class Learned:
    """Networks that have stopped learning, for now or for good."""

    learners: bytes = field(repr=False)  # pickled; for `learn` to go on with
    ended: bool  # whether their plan is at its end
    spent: bool  # whether the processor's time is
    folders: bytes = field(repr=False)  # a ZIP file of those that can be saved


def labels_of(own: str) -> tuple[str, ...]:
    """The entries of the vocabulary as people read them."""
    tokenizer = text_read(own)[0]
    return tuple(tokenizer.label(id_) for id_ in range(tokenizer.vocab_size))


def learn(
    _: None,
    channel: Channel,
    begin: tuple[Plan, ...] | bytes,
    text: str,
    steps: int | None,
    seconds: float,
) -> Learned:
    """Train, and tell each Moment; first what guessing by frequency gets, and how many read.

    Args:
        channel: hears PAUSE, or another sentence to watch.
        begin: plans of as many steps each, or what was learned before.
        text: the sentence to watch, with a [MASK].
        steps: to do at most; all that are left if None.
        seconds: of the processor, for all networks since they began.
    """
    if isinstance(begin, bytes):
        learners: list[Learner] = pickle.loads(begin)  # noqa: S301  # from our own process
    else:
        learners = [Learner(plan) for plan in begin]
        own = begin[0].own
        sentences = text_read(own)[1]
        n, counts = (
            sum(map(len, each.values())) for each in (sentences.training, sentences.held_out)
        )
        channel.tell(Reading(guessing_by_frequency(own), n, counts, labels_of(own)))
    if learners[0].plan.text != text:
        channel.tell(tuple(learner.watch(text) for learner in learners))
    last = time.monotonic() + LONGEST_S
    with nullcontext() if steps == 0 else training_core(last):
        spent = _learn(learners, channel, steps, seconds, last)
    ended = learners[0].step == learners[0].plan.steps
    only_seen = steps == 0 and not isinstance(begin, bytes)  # as it begins: nothing to be saved
    folders = b"" if only_seen else zipped(learners)
    return Learned(pickle.dumps(learners), ended, spent, folders)


def _learn(
    learners: list[Learner], channel: Channel, steps: int | None, seconds: float, last: float
) -> bool:
    """Step after step, until the end or a pause; tells whether the processor's time is spent."""
    spent = False
    for moment in zip(*(learner.learn(steps) for learner in learners), strict=True):
        channel.tell(moment)
        channel(moment[0].step / learners[0].plan.steps)
        heard = channel.heard()
        for sentence in [each for each in heard if each != PAUSE][-1:]:
            with suppress(ValueError):  # nothing is hidden in what it reads of that: the old stays
                channel.tell(tuple(learner.watch(sentence) for learner in learners))
        spent = sum(learner.seconds for learner in learners) >= seconds
        if spent or PAUSE in heard or time.monotonic() > last:
            break
    return spent


__all__ = ["PAUSE", "Guessing", "Learned", "Moment", "Plan", "Reading", "learn"]
