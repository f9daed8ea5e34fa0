"""What used to wait for a button shows a first result by itself, once for everybody."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from ffnviz.analysis.lab.approximation import approximate
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.growth import as_convolution
from ffnviz.models.encoder.model import Model
from ffnviz.models.trace import Trace
from ffnviz.parts import measurement
from ffnviz.parts.timing import convolution
from ffnviz.state import run_factory
from tests.at_once import AtOnce
from tests.parts.visits import opened


@pytest.fixture(autouse=True)
def _cold(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(measurement, "JOB_POOL", AtOnce())
    run_factory.CACHE.clear()
    yield
    run_factory.CACHE.clear()


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def test_a_fit_is_computed_for_the_first_visitor_and_kept_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def counted(function: object, phi: str, **more: object) -> object:
        asked.append(phi)
        return approximate(function, phi, widths=(1, 2), **more)  # type: ignore[arg-type]

    monkeypatch.setattr("ffnviz.parts.lab.fit.approximate", counted)
    monkeypatch.setattr("ffnviz.parts.lab.fit.WIDTHS", (1, 2))
    for _ in range(2):
        opened("lab", part="fit")
    assert asked == ["relu"]
    other = opened("lab", part="fit", phi="gelu")
    assert asked == ["relu", "gelu"]
    press(other, "Fit")
    assert asked == ["relu", "gelu", "gelu"], "whoever presses gets a new one"


def test_a_first_time_is_measured_without_a_press_and_says_when(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def counted(model: Model, trace: Trace, block: int, repeats: int, progress: Progress) -> object:
        asked.append(repeats)
        return as_convolution(model, trace, block, repeats, progress)

    monkeypatch.setattr(convolution, "as_convolution", counted)
    first, second = (opened("timing", part="convolution", repeats="5") for _ in range(2))
    said = [next(m.value for m in app.markdown if "Measured at" in m.value)
            for app in (first, second)]  # fmt: skip
    assert asked == [5]
    assert said[0] == said[1], "the second visitor is told when it was measured for the first"
