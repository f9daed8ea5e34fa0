"""A measurement: asked for by a press, computed beside, cancelled by another press, kept."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import streamlit

from ffnviz.analysis.timing.stages import Throughput, throughput
from ffnviz.app import measuring
from ffnviz.app.measuring import is_under_way
from ffnviz.app.visit import visit as visit_now
from ffnviz.jobs.job import Contention, Job, JobStatus, Order
from ffnviz.jobs.job_pool import JobPool, QueueIsFullError
from ffnviz.parts.sheet import Measured, Measurement, measured_on
from ffnviz.parts.timing import stages
from ffnviz.state import run_factory
from ffnviz.state.run import Run
from tests.at_once import AtOnce
from tests.jobs.works import takes_a_moment
from tests.parts.sheets import drawn
from tests.parts.visits import opened
from tests.sent_cells import said as measured_said
from tests.waiting import until

Visit = Callable[[], None]


@pytest.fixture(scope="module")
def pool() -> Iterator[JobPool]:
    """One for all: its process takes seconds to start."""
    pool = JobPool()
    yield pool
    pool.end()


@pytest.fixture
def visit(pool: JobPool, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Makes what follows be of a new visitor."""
    run_factory.CACHE.clear()
    measuring._KEPT.clear()
    measuring._UNDER_WAY.clear()
    monkeypatch.setattr(measuring, "JOB_POOL", pool)

    def visit() -> None:
        monkeypatch.setattr(streamlit, "session_state", {})

    visit()
    return visit


@pytest.fixture
def run() -> Run:
    return drawn("timing", "stages", measure=False, text="It rained.").run


@pytest.fixture
def measurement() -> Measurement[Any]:
    return Measurement("a moment", ("usual",), takes_a_moment, lambda _: [])


def wait(measurement: Measurement[Any], run: Run) -> Measured[Any]:
    """Its result, once nothing of it is under way."""
    until(lambda: bool(measuring.result_of(measurement, run)) and not is_under_way(measurement))
    result = measuring.result_of(measurement, run)
    assert result is not None
    return result


@pytest.mark.usefixtures("visit")
def test_what_was_cancelled_begins_again_by_a_press_only_and_another_press_cancels_that(
    measurement: Measurement[Any], run: Run, pool: JobPool
) -> None:
    assert measuring.result_of(measurement, run) is None
    measuring.cancel(measurement)
    until(lambda: pool.queue == 0)
    assert measuring.result_of(measurement, run) is None
    assert not is_under_way(measurement)
    measuring.start(measurement, run)
    first = wait(measurement, run)
    assert first.setup == measurement.setup
    measuring.start(measurement, run)
    measuring.cancel(measurement)
    assert wait(measurement, run) is first
    assert measuring.problems() == []


def test_what_nobody_looks_at_any_more_is_cancelled(
    visit: Visit, measurement: Measurement[Any], run: Run, pool: JobPool
) -> None:
    measuring.result_of(measurement, run)
    one = streamlit.session_state
    visit()
    measuring.result_of(measurement, run)
    job = visit_now().requests.under_way[measurement.name].job
    measuring.leave_all_but(["another"])
    assert not job.ended, "the first still waits for it"
    streamlit.session_state = one
    measuring.leave_all_but(["another"])
    until(lambda: job.status is JobStatus.CANCELLED and pool.queue == 0)
    assert wait(measurement, run).setup == measurement.setup, "whoever returns has it measured"


@pytest.mark.usefixtures("visit")
def test_another_setup_is_measured_in_its_place(measurement: Measurement[Any], run: Run) -> None:
    first = wait(measurement, run)
    other = replace(measurement, setup=("other",))
    assert measuring.result_of(other, run) is first, "what was there stays"
    job = visit_now().requests.under_way[measurement.name].job
    assert measuring.result_of(measurement, run) is first
    assert job.status is JobStatus.CANCELLED
    assert not is_under_way(measurement)
    assert wait(other, run) is not first


def test_those_who_come_while_a_first_result_is_on_its_way_wait_for_the_same(
    visit: Visit, measurement: Measurement[Any], run: Run, pool: JobPool
) -> None:
    assert measuring.result_of(measurement, run) is None
    one = streamlit.session_state
    visit()
    assert measuring.result_of(measurement, run) is None
    assert pool.queue <= 1
    second = wait(measurement, run)
    streamlit.session_state = one
    assert wait(measurement, run) is second


def test_a_result_comes_by_itself_and_again_by_a_press_and_is_there_for_the_next_visitor(
    visit: Visit, measurement: Measurement[Any], run: Run
) -> None:
    assert measuring.result_of(measurement, run) is None
    first = wait(measurement, run)
    visit()
    assert measuring.result_of(measurement, run) is first
    assert not is_under_way(measurement), "it waits for nothing"
    measuring.start(measurement, run)
    measuring.start(measurement, run)  # a second press does nothing
    assert is_under_way(measurement)
    again = wait(measurement, run)
    assert again is not first
    visit()
    assert wait(measurement, run) is again, "everybody has what was asked for last"


@pytest.mark.usefixtures("visit")
def test_what_few_want_is_measured_at_a_press_only(measurement: Measurement[Any], run: Run) -> None:
    asked = replace(measurement, name="on request", on_request=True)
    assert measuring.result_of(asked, run) is None
    assert not is_under_way(asked)
    measuring.start(asked, run)
    assert wait(asked, run).setup == asked.setup
    measuring.forget("on req")
    assert measuring.result_of(asked, run) is None


@pytest.mark.usefixtures("visit")
def test_what_needs_no_other_result_has_a_button_only_when_it_failed(
    measurement: Measurement[Any], run: Run, pool: JobPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = replace(measurement, name="once", once=True)
    assert measuring.with_buttons([once]) == {}
    with monkeypatch.context() as full:
        full.setattr(pool, "submit", is_full)
        assert measuring.result_of(once, run) is None
    assert measuring.problems() == [
        "60 computations are already waiting. Try again in a few minutes."
    ]
    assert measuring.problems() == [], "it is said once"
    assert not is_under_way(once)
    measuring.start(once, run)
    until(lambda: measuring.result_of(once, run) is not None)
    assert measuring.with_buttons([once]) == {}


def is_full(*_: Order) -> None:
    raise QueueIsFullError("60 computations are already waiting. Try again in a few minutes.")


@pytest.mark.parametrize(("processor", "told"), [(1.0, False), (0.62, True)])
def test_a_measurement_that_had_to_share_the_machine_says_so(processor: float, told: bool) -> None:
    result = Measured((), None, "12:00:00", "a CPU", Contention(processor, 0.0))
    assert ("62% of a processor" in str(measured_on(result))) is told


@pytest.mark.parametrize(
    ("others", "said"), [(0, ""), (1, "Waiting for 1 other …"), (2, "Waiting for 2 others …")]
)
def test_who_waits_hears_for_whom(monkeypatch: pytest.MonkeyPatch, others: int, said: str) -> None:
    jobs = [Job(None, usual=2.0) for _ in range(others + 1)]  # type: ignore[arg-type]
    pool = JobPool()
    pool._jobs = jobs
    monkeypatch.setattr(measuring, "JOB_POOL", pool)
    told = measuring._told("a moment", jobs[-1])
    assert (told["waits"], told["left"]) == (said, 2.0 * len(jobs))
    jobs[0].usual = None
    assert measuring._told("a moment", jobs[-1])["left"] is None


def test_how_long_it_takes_is_said_by_the_last_time_or_by_its_progress() -> None:
    job = Job(None, usual=8.0, works=time.monotonic() - 2.0)  # type: ignore[arg-type]
    assert job.left == pytest.approx(6.0, abs=0.5)
    job.usual = None
    assert job.left is None, "nobody knows yet"
    job.share = 0.25
    assert job.left == pytest.approx(6.0, abs=1.5)
    job.usual, job.works = 1.0, time.monotonic() - 2.0
    assert job.left == pytest.approx(6.0, abs=1.5), "it takes longer than the last time"


def test_a_first_time_needs_no_press_and_says_when(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(*given: Any) -> Throughput:
        asked.append(given[3])
        return throughput(*given)

    run_factory.CACHE.clear()
    monkeypatch.setattr(measuring, "JOB_POOL", AtOnce())
    monkeypatch.setattr(stages, "throughput", counted)
    visits = [opened("timing", part="products", repeats="5") for _ in range(2)]
    said = [measured_said(app, "products") for app in visits]
    assert asked == [5]
    assert said[0] == said[1], "the second visitor is told when it was measured for the first"
