"""Long computations beside the pages: in order, with progress, cancelled at once, and forgotten."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from ffnviz.jobs import job_pool
from ffnviz.jobs.job import Contention, Job, JobStatus, Order, send
from ffnviz.jobs.job_pool import JobPool, QueueIsFullError
from ffnviz.models.config import config
from ffnviz.state.state import from_url
from tests.jobs.works import answers_with, dies, fails, tokens, waits_for_ever
from tests.lecture.lecture_runs import catalog
from tests.waiting import until

PATIENCE_S = 120
TEXT = "It cost forty pounds."


@pytest.fixture(scope="module")
def pool() -> Iterator[JobPool]:
    made = JobPool(most_waiting=3)
    yield made
    made.end()


def order(work: Callable[..., object], *args: object) -> Order:
    rooms = catalog()
    return Order(work, from_url("lab", {"text": TEXT}, rooms), "cpu", rooms.networks, args)


def ended(job: Job) -> Job:
    until(lambda: job.ended)
    return job


def test_what_comes_back_is_what_was_computed(pool: JobPool) -> None:
    job = ended(pool.submit(order(tokens, 3)))
    assert job.status is JobStatus.DONE, job.problem
    assert job.result == (15, ["It", "cost", "forty", "pounds", "."])
    assert job.contention is not None
    assert 0 <= job.contention.processor <= 1


def test_the_queue_is_seen_left_and_bounded(pool: JobPool) -> None:
    first = pool.submit(order(waits_for_ever))
    until(lambda: first.share == 0.25)
    second, third = (pool.submit(order(tokens, n)) for n in (1, 2))
    assert [pool.before(job) for job in (first, second, third)] == [[], [first], [first, second]]
    with pytest.raises(QueueIsFullError, match="3 computations are already waiting"):
        pool.submit(order(tokens, 3))
    pool.cancel(second)
    assert (second.status, pool.before(third)) == (JobStatus.CANCELLED, [first])
    pool.cancel(first)
    assert first.status is JobStatus.CANCELLED
    assert ended(third).result[0] == 10
    assert pool.queue == 0


@pytest.mark.parametrize(("work", "said"), [(fails, "too odd"), (dies, "ended before it was done")])
def test_what_goes_wrong_is_said_and_the_next_is_computed(
    pool: JobPool, work: Callable[..., object], said: str
) -> None:
    job = ended(pool.submit(order(work)))
    assert job.status is JobStatus.FAILED
    assert said in job.problem
    assert "Traceback" not in job.problem
    assert ended(pool.submit(order(tokens, 1))).status is JobStatus.DONE


def test_what_cannot_be_sent_or_read_ends_no_queue(pool: JobPool) -> None:
    for error in [AttributeError, TypeError]:
        job = ended(pool.submit(order(answers_with, error)))
        assert (job.status, error.__name__ in job.problem) == (JobStatus.FAILED, True)
        assert ended(pool.submit(order(tokens, 1))).status is JobStatus.DONE
    job = ended(pool.submit(order(lambda *_: None)))
    assert job.status is JobStatus.FAILED
    assert ended(pool.submit(order(tokens, 1))).status is JobStatus.DONE


def test_who_is_gone_keeps_none_waiting_and_is_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job_pool, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(job_pool, "ABANDONED_AFTER_S", PATIENCE_S)
    pool = JobPool()
    left = pool.submit(order(waits_for_ever), wanted=lambda: False)
    until(lambda: left.share > 0)
    assert not left.ended  # who left may come back
    assert ended(pool.submit(order(tokens, 1))).status is JobStatus.DONE
    assert left.status is JobStatus.CANCELLED
    monkeypatch.setattr(job_pool, "ABANDONED_AFTER_S", 0.05)
    left = ended(pool.submit(order(waits_for_ever), wanted=lambda: False))
    assert left.status is JobStatus.CANCELLED
    pool.end()


def test_a_worker_whose_pages_are_gone_ends_without_a_trace() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "ffnviz.jobs.worker", "10"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as worker:  # fmt: skip
        assert worker.stdout is not None
        assert worker.stderr is not None
        worker.stdout.close()
        send(worker.stdin, config())
        send(worker.stdin, order(tokens, 2))
        assert worker.stderr.read() == b""
    assert worker.returncode == 0


@pytest.mark.parametrize(
    ("processor", "pages", "much"), [(1.0, 0.0, False), (0.7, 0.0, True), (1.0, 0.3, True)]
)
def test_a_machine_is_shared_when_a_page_or_another_program_took_its_time(
    processor: float, pages: float, much: bool
) -> None:
    assert Contention(processor, pages).matters is much
