"""Training beside the pages: told on its way, paused, gone on with, and watched on another text."""

from collections.abc import Iterator
from typing import Any

import pytest

from ffnviz.jobs.job import Job, JobStatus, Order
from ffnviz.jobs.job_pool import JobPool
from ffnviz.jobs.learning import PAUSE, Learned, Plan, Reading, learn
from ffnviz.training.learn.learner import Learner
from tests.waiting import until

TEXT = "She opened the [MASK] and looked out."
LONG = Plan("relu", TEXT, steps=3_000)


@pytest.fixture(scope="module")
def pool() -> Iterator[JobPool]:
    pool = JobPool()
    yield pool
    pool.end()


def ordered(pool: JobPool, begin: Any, steps: int | None, seconds: float = 100.0) -> Job:
    return pool.submit(Order(learn, None, "cpu", {}, (begin, TEXT, steps, seconds)))


def done(job: Job) -> Learned:
    until(lambda: job.ended)
    assert job.status is JobStatus.DONE, job.problem
    assert isinstance(job.result, Learned)
    return job.result


def test_two_networks_take_the_same_steps_and_are_told_as_they_do(pool: JobPool) -> None:
    plans = (Plan("relu", TEXT, 20), Plan("no-norm", TEXT, 20))
    job = ordered(pool, plans, None)
    learned = done(job)
    reading, *moments = job.updates
    assert isinstance(reading, Reading)
    assert reading.n_sentences > 80_000
    assert reading.n_held_out == 500
    assert [[record.step for record in moment] for moment in moments] == [
        [0, 0],
        [10, 10],
        [20, 20],
    ]
    alone = [record.to_dict() for record in Learner(plans[0]).learn()]
    assert [moment[0].to_dict() for moment in moments] == alone
    assert learned.ended
    assert learned.folders[:2] == b"PK"


def test_a_paused_training_goes_on_where_it_stopped_and_hears_what_to_watch(pool: JobPool) -> None:
    job = ordered(pool, (LONG,), None)
    until(lambda: len(job.updates) > 2)
    pool.send(job, "What [MASK] is it?")
    until(lambda: job.updates[-1][0].text == "What [MASK] is it?")
    pool.send(job, "Nothing is hidden here.")  # is not watched, and breaks nothing
    pool.send(job, PAUSE)
    paused = done(job)
    assert not paused.ended
    last = job.updates[-1][0].step
    assert 0 < last < LONG.steps
    one = ordered(pool, paused.learners, 1)
    done(one)
    assert [moment[0].step for moment in one.updates] == [last, last + 1]  # the first: TEXT again


def test_what_was_said_to_one_training_is_not_heard_by_the_next(pool: JobPool) -> None:
    job = ordered(pool, (LONG,), 20)
    until(lambda: len(job.updates) > 1)
    pool.send(job, PAUSE)
    done(job)
    pool.send(job, PAUSE)  # which has ended
    after = ordered(pool, (Plan("relu", TEXT, 30),), None)
    assert done(after).ended


def test_its_time_of_the_processor_is_limited(pool: JobPool) -> None:
    learned = done(ordered(pool, (LONG,), None, seconds=0.05))
    assert learned.spent
    assert not learned.ended


def test_a_sentence_in_which_nothing_is_hidden_is_refused_in_words(pool: JobPool) -> None:
    text = "What time is it?"
    args = ((Plan("relu", text, 10),), text, None, 100.0)
    job = pool.submit(Order(learn, None, "cpu", {}, args))
    until(lambda: job.ended)
    assert job.status is JobStatus.FAILED
    assert "No word is hidden" in job.problem


def test_no_step_shows_the_network_as_it_begins(pool: JobPool) -> None:
    job = ordered(pool, (LONG,), 0)
    learned = done(job)
    assert not learned.ended
    assert [each[0].step for each in job.updates if isinstance(each, tuple)] == [0]
    after = ordered(pool, learned.learners, 10)
    done(after)
    assert [each[0].step for each in after.updates if isinstance(each, tuple)] == [0, 10]
