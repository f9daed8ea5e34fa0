"""A measurement: asked for by a press, computed beside, cancelled by another press, kept."""

import time
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from ffnviz.jobs.job_pool import Contention, Job, JobPool, Order, QueueIsFullError
from ffnviz.parts import measurement
from ffnviz.parts.measurement import Measurement, MeasurementRequest
from ffnviz.state import run_factory
from tests.parts.visits import opened, unbroken

PATIENCE_S = 120


@pytest.fixture(scope="module")
def pool() -> Iterator[JobPool]:
    """One for all: its process takes seconds to start."""
    pool = JobPool()
    yield pool
    pool.end()


@pytest.fixture
def page(pool: JobPool, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    run_factory.CACHE.clear()
    monkeypatch.setattr(measurement, "JOB_POOL", pool)
    return opened("timing", part="stages", repeats="5")


def button(page: AppTest, label: str) -> bool:
    return any(each.label == label for each in page.button)


def press(page: AppTest, label: str) -> AppTest:
    return unbroken(next(each for each in page.button if each.label == label).click().run())


def said(page: AppTest) -> str:
    return " ".join(each.value for each in page.markdown)


def wait_for_the_first(page: AppTest) -> AppTest:
    end = time.monotonic() + PATIENCE_S
    while "Measured at" not in said(page):
        assert time.monotonic() < end
        time.sleep(0.1)
        unbroken(page.run())
    return page


def test_a_first_result_comes_by_itself_and_is_there_for_the_next_visitor(page: AppTest) -> None:
    assert not button(page, "Cancel"), "it is for all who look"
    assert "Measured at" not in said(page)
    first = said(wait_for_the_first(page))
    assert "Measured at" in said(opened("timing", part="stages", repeats="5"))
    assert said(opened("timing", part="stages", repeats="5")) == first


def test_those_who_come_while_a_first_result_is_on_its_way_wait_for_the_same(
    page: AppTest, pool: JobPool
) -> None:
    second = opened("timing", part="stages", repeats="5")
    assert pool.queue <= 1
    assert said(wait_for_the_first(page)) == said(wait_for_the_first(second))


def test_a_press_measures_beside_and_the_result_comes_back(page: AppTest) -> None:
    press(wait_for_the_first(page), "Measure")
    assert button(page, "Cancel")
    end = time.monotonic() + PATIENCE_S
    while button(page, "Cancel"):
        assert time.monotonic() < end
        time.sleep(0.1)
        unbroken(page.run())
    assert "Measured at" in said(page)
    assert not next(each for each in page.button if each.label == "Measure").disabled


def test_another_press_cancels_it(page: AppTest) -> None:
    before = said(wait_for_the_first(page))
    press(page, "Measure")
    press(page, "Cancel")
    unbroken(page.run())
    assert not button(page, "Cancel")
    assert said(page) == before


def test_where_too_many_wait_it_says_so(
    page: AppTest, pool: JobPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Order) -> None:
        raise QueueIsFullError("60 computations wait already. Try again in some minutes.")

    wait_for_the_first(page)
    monkeypatch.setattr(pool, "submit", full)
    press(page, "Measure")
    assert [each.value for each in page.warning] == [
        "60 computations wait already. Try again in some minutes."
    ]
    assert not button(page, "Cancel")


@pytest.mark.parametrize(("processor", "told"), [(1.0, False), (0.62, True)])
def test_a_measurement_that_had_to_share_the_machine_says_so(processor: float, told: bool) -> None:
    result = Measurement((), None, "12:00:00", "a CPU", Contention(processor, 0.0))

    def show() -> None:
        import streamlit as st

        from ffnviz.parts.measurement import about

        about(st.session_state["result"], (), None)  # type: ignore[arg-type]

    app = AppTest.from_function(show)
    app.session_state["result"] = result
    unbroken(app.run())
    assert ("62% of a processor" in said(app)) is told


@pytest.mark.parametrize(
    ("own", "others", "said_then"),
    [
        (0, 0, ""),
        (1, 0, "Waiting for the measurement that you asked for before …"),
        (0, 1, "Waiting for 1 other …"),
        (1, 2, "Waiting for 2 others …"),
    ],
)
def test_who_waits_for_their_own_is_told_of_no_others(
    monkeypatch: pytest.MonkeyPatch, own: int, others: int, said_then: str
) -> None:
    def show() -> None:
        import streamlit as st

        from ffnviz.parts.measurement import _before

        st.text(_before(st.session_state["asked"]["this"].job))

    def job() -> Job:
        return Job(None)  # type: ignore[arg-type]

    mine, theirs = [job() for _ in range(own)], [job() for _ in range(others)]
    this, pool = job(), JobPool()
    pool._jobs = [*mine, *theirs, this]
    monkeypatch.setattr(measurement, "JOB_POOL", pool)
    app = AppTest.from_function(show)
    asked = {str(place): MeasurementRequest(each, (), "") for place, each in enumerate(mine)}
    app.session_state["asked"] = {**asked, "this": MeasurementRequest(this, (), "")}
    assert [each.value for each in unbroken(app.run()).text] == [said_then]
