"""A session's training: what each button asks of the pool, and how the page sees it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit

from ffnviz.app import training
from ffnviz.jobs.job import Job, JobStatus, Order
from ffnviz.jobs.job_pool import JobPool, QueueIsFullError
from ffnviz.jobs.learning import PAUSE, Guessing, Learned, Plan, Reading, learn
from ffnviz.models.config import config, use
from ffnviz.models.learned import NoRoomError
from ffnviz.parts.learn.moments import Course, Status
from ffnviz.parts.sheet import Measurement
from ffnviz.training.learn.learner import HeldOut, Record, Sparsity

TEXT = "What [MASK] is it?"
READING = Reading(Guessing(6.0, 0.1), 81_000, 500)
LOOK = HeldOut(5.0, 0.3, (Sparsity(0.4, 0.0), Sparsity(0.2, 0.1)))


class Recorder(JobPool):
    """Computes nothing: notes what was asked and said."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[Job] = []
        self.said: list[object] = []
        self.full = False

    def submit(self, order: Order, wanted: Callable[[], bool] = lambda: True) -> Job:
        if self.full:
            raise QueueIsFullError("60 computations wait already.")
        self.jobs.append(Job(order, wanted))
        return self.jobs[-1]

    def send(self, job: Job, message: object) -> None:
        assert job is self.jobs[-1]
        self.said.append(message)

    def cancel(self, job: Job) -> None:
        job.status = JobStatus.CANCELLED


def moment(step: int, text: str = TEXT) -> tuple[Record, ...]:
    hidden = np.zeros((2, 5, 256), np.float16)
    return (Record("relu", step, 1.0, text, ("What", "[MASK]"), ("a",), (0.5,), LOOK, hidden),)


def measurement(text: str = TEXT) -> Measurement[Any]:
    plans = (Plan("relu", text, 3_000),)
    return Measurement("learn", (), learn, lambda _: (), (plans, text), on_request=True, live=True)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    pool = Recorder()
    monkeypatch.setattr(training, "POOL", pool)
    monkeypatch.setattr(streamlit, "session_state", {})
    monkeypatch.setattr(training, "_KNOWN", {})
    return pool


def course(text: str = TEXT) -> Course:
    result = training.course_of(measurement(text)).result
    assert isinstance(result, Course)
    return result


def runs(pool: Recorder) -> Job:
    """A training that has begun and told two moments."""
    training.do(measurement(), "train")
    job = pool.jobs[-1]
    job.status = JobStatus.RUNS
    job.updates += [READING, moment(0), moment(10)]
    return job


def begun(pool: Recorder) -> Course:
    """What is seen of a network before its first step."""
    course()
    pool.jobs[0].updates += [READING, moment(0)]
    finish(pool.jobs[0])
    return course()


def finish(job: Job, networks: bytes = b"nets", over: str = "", folders: bytes = b"") -> None:
    job.status = JobStatus.DONE
    job.result = Learned(networks, over == "ended", over == "spent", folders)


def test_what_there_is_not_or_may_not_be_is_not_trained(pool: Recorder) -> None:
    for what in ["pause", "stop"]:
        training.do(measurement(), what)
        assert pool.jobs == []
    use(replace(config(), train_minutes=0.0))
    training.do(measurement(), "train")
    assert course().status is Status.NEW
    assert pool.jobs == []


def test_whoever_comes_sees_the_network_before_its_first_step(pool: Recorder) -> None:
    assert course().moments == ()
    assert training.refresh_s("learn") is not None
    found = begun(pool)
    (job,) = pool.jobs
    assert job.order.args[2] == 0, "no step is asked for"
    assert found.status is Status.NEW
    assert [each[0].step for each in found.moments] == [0]
    assert training.refresh_s("learn") is None


def test_a_class_that_watches_one_sentence_has_its_beginning_computed_once(
    pool: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = begun(pool)
    monkeypatch.setattr(streamlit, "session_state", {})
    assert course().moments == first.moments
    assert len(pool.jobs) == 1
    course("Who [MASK] it?")
    assert len(pool.jobs) == 2, "another sentence has another beginning"


def test_what_it_began_with_stays_while_the_training_begins(pool: Recorder) -> None:
    begun(pool)
    training.do(measurement(), "train")
    assert len(course().moments) == 1
    pool.jobs[1].status = JobStatus.RUNS
    pool.jobs[1].updates += [READING, moment(0), moment(10)]
    assert [each[0].step for each in course().moments] == [0, 10]
    kept = training._KNOWN[measurement().args[0]]
    assert len(kept.moments) == 1, "what others see of it is still its beginning"


def test_a_training_waits_and_runs_and_its_page_runs_with_it_and_no_other(pool: Recorder) -> None:
    training.do(measurement(), "train")
    assert course().status is Status.WAITS
    job = runs(pool)
    found = course()
    assert found.status is Status.RUNS
    assert [each[0].step for each in found.moments] == [0, 10]
    assert found.reading == READING
    assert training.refresh_s("learn") is not None
    assert training.refresh_s("journey") is None
    job.updates.append(moment(20))
    assert len(course().moments) == 3


def test_a_paused_one_goes_on_from_its_networks_and_makes_one_step(pool: Recorder) -> None:
    runs(pool)
    training.do(measurement(), "pause")
    assert pool.said == [PAUSE]
    finish(pool.jobs[-1])
    assert course().status is Status.PAUSED
    training.do(measurement(), "step")
    assert pool.jobs[-1].order.args[:3] == (b"nets", TEXT, 1)
    finish(pool.jobs[-1], b"more")
    course()
    training.do(measurement(), "go")
    assert pool.jobs[-1].order.args[:3] == (b"more", TEXT, None)
    assert len(course().moments) == 2


@pytest.mark.parametrize("over", ["ended", "spent"])
def test_what_is_over_does_not_go_on_but_begins_anew(pool: Recorder, over: str) -> None:
    finish(runs(pool), over=over)
    assert course().status is Status.ENDED
    n = len(pool.jobs)
    training.do(measurement(), "go")
    assert len(pool.jobs) == n
    training.do(measurement(), "train")
    assert len(pool.jobs) == n + 1
    assert course().moments == ()


def test_a_cancelled_or_lost_training_is_forgotten_and_a_full_queue_is_said(pool: Recorder) -> None:
    job = runs(pool)
    training.do(measurement(), "stop")
    assert job.status is JobStatus.CANCELLED
    assert course().status is Status.NEW
    job = runs(pool)
    job.status, job.problem = JobStatus.FAILED, "The process ended."
    found = course()
    assert (found.status, found.problem) == (Status.NEW, "The process ended.")
    pool.full = True
    training.do(measurement(), "train")
    assert course().problem == "60 computations wait already."


def test_another_sentence_is_watched_while_it_runs_and_after(pool: Recorder) -> None:
    job = runs(pool)
    course("Who [MASK] it?")
    assert pool.said == ["Who [MASK] it?"]
    job.updates.append(moment(10, "Who [MASK] it?"))
    assert [each[0].text for each in course("Who [MASK] it?").moments] == [TEXT, "Who [MASK] it?"]
    finish(job, over="ended")
    course("Who [MASK] it?")
    course("Yet [MASK].")
    assert pool.jobs[-1].order.args[:3] == (b"nets", "Yet [MASK].", 0)


def test_the_next_training_reads_a_text_of_ones_own_until_that_is_let_go(pool: Recorder) -> None:
    training.read("tale.txt", "A text.")
    assert course().file == "tale.txt"
    training.do(measurement(), "train")
    assert [plan.own for plan in pool.jobs[-1].order.args[0]] == ["A text."]
    training.read("", "")
    assert course().file == "tale.txt"  # that one still reads it
    training.do(measurement(), "train")
    assert [plan.own for plan in pool.jobs[-1].order.args[0]] == [""]
    assert course().file == ""


def test_a_paused_one_is_shown_on_all_pages_or_it_is_said_why_not(
    pool: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert training.opened("learn") == []
    job = runs(pool)
    course()
    finish(job, folders=b"a ZIP file")
    course()
    monkeypatch.setattr(training, "keep_learned", lambda zipped: [f"learned-{zipped.decode()}"])
    assert training.opened("learn") == ["learned-a ZIP file"]

    def full(_: bytes) -> list[str]:
        raise NoRoomError("No room.")

    monkeypatch.setattr(training, "keep_learned", full)
    assert training.opened("learn") == []
    assert course().problem == "No room."
