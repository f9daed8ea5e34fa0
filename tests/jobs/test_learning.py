"""Training beside the pages: told on its way, paused and gone on with, in turns at the cores."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ffnviz.jobs.job import Job, JobStatus, Order
from ffnviz.jobs.job_pool import JobPool
from ffnviz.jobs.learning import PAUSE, Learned, Plan, Reading, learn, training_core
from ffnviz.models.config import config, use
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


def test_its_time_is_limited_and_a_sentence_that_hides_nothing_is_refused(pool: JobPool) -> None:
    learned = done(ordered(pool, (LONG,), None, seconds=0.05))
    assert learned.spent
    assert not learned.ended
    text = "What time is it?"
    args = ((Plan("relu", text, 10),), text, None, 100.0)
    job = pool.submit(Order(learn, None, "cpu", {}, args))
    until(lambda: job.ended)
    assert job.status is JobStatus.FAILED
    assert "No word is hidden" in job.problem
    job = ordered(pool, (LONG,), 0)
    learned = done(job)
    assert not learned.ended
    assert [each[0].step for each in job.updates if isinstance(each, tuple)] == [0]
    after = ordered(pool, learned.learners, 10)
    done(after)
    assert [each[0].step for each in after.updates if isinstance(each, tuple)] == [0, 10]


LATER_S = 20.0
HOLDS = """
import sys, time
from dataclasses import replace
from pathlib import Path
from ffnviz.jobs.learning import training_core
from ffnviz.models.config import config, use
import os
os.cpu_count = lambda: 1
use(replace(config(), learned=Path(sys.argv[1])))
with training_core(time.monotonic() + 20):
    print("trains", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def one_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use(replace(config(), learned=tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    return tmp_path


def test_a_training_waits_for_another_process_and_begins_when_it_dies(one_core: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(one_core)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "trains\n"
        began = time.monotonic()
        with training_core(began + 0.5):
            assert time.monotonic() - began >= 0.5  # it has waited as long as it may
        other.kill()
        other.wait()
    began = time.monotonic()
    with training_core(began + LATER_S):
        assert time.monotonic() - began < LATER_S


def test_as_many_train_as_there_are_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(replace(config(), learned=tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    until = time.monotonic() + 0.5
    with training_core(until), training_core(until):
        assert time.monotonic() < until
        with training_core(until):
            assert time.monotonic() >= until
