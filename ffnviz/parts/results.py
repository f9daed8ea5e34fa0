"""Results of measurements: computed at once for a file, and what is said of when and where."""

from datetime import datetime
from typing import Any

import torch

from ffnviz.models.device import device_name
from ffnviz.parts.sheet import Measured, Measurement
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import count_setting

STOPS = (5, 10, 20, 50, 100, 200, 500, 1_000)
REPEATS = count_setting("repeats", 50, STOPS[0], STOPS[-1]).with_control(
    "runs of each", STOPS, lambda stop: f"{stop:,}"
)


def measured_at_once(measurement: Measurement[Any], run: Run) -> Measured[Any]:
    """For a file: it is made once, and nobody waits beside it."""
    result = measurement.work(run, lambda _: None, *measurement.args)
    return Measured(measurement.setup, result, f"{datetime.now():%H:%M:%S}", where(run))


def where(run: Run) -> str:
    """The device of a run, in words."""
    return f"{device_name(run.model.device)}; PyTorch {torch.__version__}"


def about(measured: Measured[Any], setup: tuple[object, ...], run: Run) -> list[Cell]:
    """When and on what it was measured, and whether that is still what the page shows."""
    shared, cells = measured.shared, []
    if shared is not None and shared.matters:
        cells.append(text_cell(
            "measured-busy",
            f"The machine was busy with other things as well: this measurement had "
            f"{shared.processor:.0%} of a processor, and pages were made in {shared.pages:.0%} of "
            "the time. The times may be too long; measure again when it is quiet.",
        ))  # fmt: skip
    if measured.setup != setup:
        cells.append(text_cell(
            "measured-old",
            ["This was measured for another sentence or setting. Press “Measure” for this one: "
             f"{len(run.labels)} tokens, ", (run.card.label, "typed"),
             f", block {run.state.block + 1}."],
            tone="warning",
        ))  # fmt: skip
    when = text_cell("measured-when", ["Measured at ", (measured.when, "strong"),
                                       f" on {measured.where}."])  # fmt: skip
    return [when, *cells]
