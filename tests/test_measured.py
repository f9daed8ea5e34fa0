"""A measurement: asked for by a press, computed beside, cancelled by another press, kept."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from ffnviz import measured
from ffnviz.beside import Order, Pool, QueueIsFullError, Shared
from ffnviz.measured import Measured
from tests.pages.visits import opened, unbroken

PATIENCE_S = 120


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def page(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(measured, "POOL", pool)
    return opened("timing", part="stages", repeats="5")


def button(page: AppTest, label: str) -> bool:
    return any(each.label == label for each in page.button)


def press(page: AppTest, label: str) -> AppTest:
    return unbroken(next(each for each in page.button if each.label == label).click().run())


def said(page: AppTest) -> str:
    return " ".join(each.value for each in page.markdown)


def test_a_press_measures_beside_and_the_result_comes_back(page: AppTest, pool: Pool) -> None:
    press(page, "Measure")
    assert button(page, "Cancel")
    end = time.monotonic() + PATIENCE_S
    while button(page, "Cancel"):
        assert time.monotonic() < end
        assert "Measured at" not in said(page)
        time.sleep(0.1)
        unbroken(page.run())
    assert "Measured at" in said(page)
    assert not next(each for each in page.button if each.label == "Measure").disabled
    pool.end()


def test_another_press_cancels_it(page: AppTest, pool: Pool) -> None:
    press(page, "Measure")
    press(page, "Cancel")
    unbroken(page.run())
    assert not button(page, "Cancel")
    assert "Measured at" not in said(page)
    pool.end()


def test_where_too_many_wait_it_says_so(
    page: AppTest, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Order) -> None:
        raise QueueIsFullError("60 computations wait already. Try again in some minutes.")

    monkeypatch.setattr(pool, "submit", full)
    press(page, "Measure")
    assert [each.value for each in page.warning] == [
        "60 computations wait already. Try again in some minutes."
    ]
    assert not button(page, "Cancel")


@pytest.mark.parametrize(("processor", "told"), [(1.0, False), (0.62, True)])
def test_a_measurement_that_had_to_share_the_machine_says_so(processor: float, told: bool) -> None:
    result = Measured((), None, "12:00:00", "a CPU", Shared(processor, 0.0))

    def show() -> None:
        import streamlit as st

        from ffnviz.measured import about

        about(st.session_state["result"], (), None)  # type: ignore[arg-type]

    app = AppTest.from_function(show)
    app.session_state["result"] = result
    unbroken(app.run())
    assert ("62% of a processor" in said(app)) is told
