"""Results of measurements: made at once for a file, and when and on what they were measured."""

from datetime import datetime
from typing import Any

import torch

from ffnviz.jobs.job import outcome
from ffnviz.models.device import device_name
from ffnviz.parts.sheet import Measured, Measurement
from ffnviz.pictures.wording import Sentence
from ffnviz.state.run import Run
from ffnviz.state.settings import count_setting

STOPS = (5, 10, 20, 50, 100, 200, 500, 1_000)
REPEATS = count_setting("repeats", 50, STOPS[0], STOPS[-1]).with_control(
    "runs of each", STOPS, "{:,}".format
)


def measured_at_once(measurement: Measurement[Any], run: Run) -> Measured[Any]:
    """The result for a file, which is made once while nobody waits."""
    result = outcome(measurement.work(run, lambda _: None, *measurement.args))
    return Measured(measurement.setup, result, f"{datetime.now():%H:%M:%S}", where(run))


def where(run: Run) -> str:
    """The device of a run, in words."""
    return f"{device_name(run.model.device)}; PyTorch {torch.__version__}"


def measured_on(measured: Measured[Any]) -> Sentence:
    """When and on what it was measured: the quiet line below a picture."""
    if measured.partial:
        return ["Still being measured."]
    said: Sentence = [f"Measured at {measured.when} on {measured.where}."]
    if measured.shared is not None and measured.shared.matters:
        said.append(
            f" The machine was busy: this had {measured.shared.processor:.0%} of a processor, and "
            f"pages were made in {measured.shared.pages:.0%} of the time; so times may be too long."
        )
    return said
