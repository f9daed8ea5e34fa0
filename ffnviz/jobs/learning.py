"""Training small networks side by side, in the worker process: what the page Learn asks for."""

import errno
import os
import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ffnviz.jobs.job import Channel
from ffnviz.models.config import config
from ffnviz.models.encoder.atomic import lock
from ffnviz.training.learn import learner as training
from ffnviz.training.learn.learner import Guessing, Plan
from ffnviz.training.learn.text import text_read

LOOK_EVERY_S = 0.2


@contextmanager
def training_core(until: float) -> Iterator[None]:
    """Wait until fewer of this server's trainings run than there are cores.

    Whoever has waited until `until`, of the monotonic clock, trains beside the others. A training
    that dies gives its core back: its process holds the lock.
    """
    folder, held = config().learned, None
    while folder is not None and (held := _free_core(folder)) is None and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _free_core(folder: Path) -> int | None:
    """The lock of the first core that nobody trains on; None if all are taken."""
    for core in range(os.cpu_count() or 1):
        file = folder / f".core-{core}"
        file.touch()
        try:
            return lock(file, wait=False)
        except OSError as error:
            if error.errno == errno.ENOLCK:  # no such locks here, where a server is one process
                return os.open(file, os.O_RDONLY)
    return None


LONGEST_S = 540.0  # of the clock; when the pool ends a job, all is lost
PAUSE = "pause"

Moment = tuple[training.Record, ...]  # one a network, of the same step


@dataclass(frozen=True)
class Reading:
    """The sentences that networks read, and how well guessing by frequency does on them."""

    guessing: Guessing = field(default_factory=lambda: Guessing(0.0, 0.0))
    n_sentences: int = 0  # to train on
    n_held_out: int = 0
    labels: tuple[str, ...] = ()  # the entries of the vocabulary, by their ids


@dataclass(frozen=True)
class Learned:
    """Networks that have stopped learning, for now or for good."""

    learners: bytes = field(repr=False)  # pickled; for `learn` to go on with
    ended: bool  # whether their plan is at its end
    spent: bool  # whether the processor's time is used up
    folders: bytes = field(repr=False)  # a ZIP file of those that can be saved


def labels_of(own: str) -> tuple[str, ...]:
    """The entries of the vocabulary as people read them."""
    tokenizer = text_read(own)[0]
    return tuple(tokenizer.label(id_) for id_ in range(tokenizer.vocab_size))


def learn(
    _: None,
    channel: Channel,  # receives PAUSE, or another sentence to watch
    begin: tuple[Plan, ...] | bytes,  # plans of as many steps each, or a Learned's learners
    text: str,  # the sentence to watch, with a [MASK]
    steps: int | None,  # to do at most; all that are left if None
    seconds: float,  # of the processor, for all networks since they began
) -> Learned:
    """Train, and send each Moment; first what is read, as a Reading."""
    if isinstance(begin, bytes):
        learners: list[training.Learner] = pickle.loads(begin)  # noqa: S301  # from our own process
    else:
        learners = [training.Learner(plan) for plan in begin]
        own = begin[0].own
        sentences = text_read(own)[1]
        n_sentences = sum(map(len, sentences.training.values()))
        n_held_out = sum(map(len, sentences.held_out.values()))
        guessing = training.guessing_by_frequency(own)
        channel.send(Reading(guessing, n_sentences, n_held_out, labels_of(own)))
    if learners[0].plan.text != text:
        channel.send(tuple(learner.watch(text) for learner in learners))
    deadline = time.monotonic() + LONGEST_S
    spent = False
    with nullcontext() if steps == 0 else training_core(deadline):
        for moment in zip(*(learner.learn(steps) for learner in learners), strict=True):
            channel.send(moment)
            channel(moment[0].step / learners[0].plan.steps)
            messages = channel.received()
            for sentence in [message for message in messages if message != PAUSE][-1:]:
                with suppress(ValueError):  # it hides no word: the old one stays
                    channel.send(tuple(learner.watch(sentence) for learner in learners))
            spent = sum(learner.seconds for learner in learners) >= seconds
            if spent or PAUSE in messages or time.monotonic() > deadline:
                break
    ended = learners[0].step == learners[0].plan.steps
    untrained = steps == 0 and not isinstance(begin, bytes)
    folders = b"" if untrained else training.zipped(learners)
    return Learned(pickle.dumps(learners), ended, spent, folders)


__all__ = ["PAUSE", "Guessing", "Learned", "Moment", "Plan", "Reading", "learn"]
