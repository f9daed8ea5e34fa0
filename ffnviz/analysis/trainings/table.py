"""The table of small trainings: a row each, every variant from the same seeds."""

import csv
import io
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from ffnviz.models.assets import ASSETS

TABLE = ASSETS / "trainings.csv"  # made by: ffnviz study --out assets/trainings.csv


class StudyError(ValueError):
    """A file that is no such table."""


@dataclass(frozen=True)
class Row:
    """One finished training.

    Attributes:
        variant: its name.
        seed, steps: of its plan.
        parameters: that are trained.
        loss, top5: on the held-out sentences, in nats and as a share.
        active_1, active_2: share of the activations above zero, in the first block and the last.
        dead_1, dead_2: share of the neurons that are above zero on none of these tokens.
    """

    variant: str
    seed: int
    steps: int
    parameters: int
    loss: float
    top5: float
    active_1: float
    active_2: float
    dead_1: float
    dead_2: float


NAMES = [field.name for field in fields(Row)]


@cache
def trainings() -> tuple[Row, ...]:
    """The trainings that the package brings."""
    return tuple(read_table(TABLE))


def read_table(path: Path) -> list[Row]:
    """The rows of a table.

    Raises:
        StudyError: if the file is no such table.
        OSError: if it cannot be read.
    """
    types: dict[Any, Any] = {field.name: field.type for field in fields(Row)}
    try:
        table = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
        if table.fieldnames != NAMES:
            raise ValueError("its columns are others")
        return [Row(**{name: types[name](each[name]) for name in NAMES}) for each in table]
    except (ValueError, TypeError) as error:
        raise StudyError(f"{path} is no table of this study: choose another file.") from error
