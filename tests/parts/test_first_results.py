"""What used to wait for a button shows a first result by itself, once for everybody."""

from collections.abc import Iterator

import pytest
import streamlit

from ffnviz.analysis.lab.fitting import approximate
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.timing.throughput import Throughput, throughput
from ffnviz.app import measuring
from ffnviz.models.encoder.model import Model
from ffnviz.models.trace import Trace
from ffnviz.parts.lab import fit
from ffnviz.parts.sheet import Measurement
from ffnviz.parts.timing import stages
from ffnviz.state import run_factory
from ffnviz.state.settings import Values
from tests.at_once import AtOnce
from tests.parts.sheets import drawn
from tests.parts.visits import opened
from tests.sent_cells import said as measured_said


@pytest.fixture(autouse=True)
def _cold(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(measuring, "JOB_POOL", AtOnce())
    run_factory.CACHE.clear()
    yield
    run_factory.CACHE.clear()


def test_a_fit_is_computed_for_the_first_visitor_and_kept_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def counted(function: object, phi: str, **more: object) -> object:
        asked.append(phi)
        return approximate(function, phi, widths=(1, 2), **more)  # type: ignore[arg-type]

    def visit(phi: str, press: bool = False) -> None:
        """A page looked at by somebody new, or by the last one, who presses."""
        run = drawn("lab", "fit", measure=False).run
        (wanted,) = fit.sheet(run, Values({"phi": phi})).rows
        assert isinstance(wanted, Measurement)
        if press:
            measuring.start(wanted, run)
        else:
            monkeypatch.setattr(streamlit, "session_state", {})
            measuring.result_of(wanted, run)
        shown = measuring.result_of(wanted, run)
        assert shown is not None
        assert shown.setup == wanted.setup

    monkeypatch.setattr(fit, "approximate", counted)
    visit("relu")
    visit("relu")
    assert asked == ["relu"]
    visit("gelu")
    assert asked == ["relu", "gelu"]
    visit("gelu", press=True)
    assert asked == ["relu", "gelu", "gelu"], "whoever presses gets a new one"


def test_a_first_time_is_measured_without_a_press_and_says_when(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def counted(
        model: Model, trace: Trace, block: int, repeats: int, progress: Progress
    ) -> Throughput:
        asked.append(repeats)
        return throughput(model, trace, block, repeats, progress)

    monkeypatch.setattr(stages, "throughput", counted)
    visits = [opened("timing", part="products", repeats="5") for _ in range(2)]
    said = [measured_said(app, "products") for app in visits]
    assert asked == [5]
    assert said[0] == said[1], "the second visitor is told when it was measured for the first"
