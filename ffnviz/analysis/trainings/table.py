"""The table of small trainings, one a row; every variant is trained from the same seeds."""

import csv
import io
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from ffnviz.models.assets import ASSETS

TABLE = ASSETS / "trainings.csv"  # made by: ffnviz study --out assets/trainings.csv


class StudyError(ValueError):
    """A file that is no table of trainings."""


@dataclass(frozen=True)
class Row:
    """One finished training, measured on the held-out sentences."""

    variant: str  # its name
    seed: int
    steps: int
    parameters: int  # that are trained
    loss: float  # in nats
    top5: float  # share of the masked words among the five likeliest
    active_1: float  # share of the first block's activations above zero
    active_2: float  # of the last block's
    dead_1: float  # share of the first block's neurons that are above zero on no token
    dead_2: float  # of the last block's


COLUMNS = [field.name for field in fields(Row)]


@cache
def trainings() -> tuple[Row, ...]:
    """The trainings that come with the package."""
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
        if table.fieldnames != COLUMNS:
            raise ValueError("its columns are others")
        return [Row(**{name: types[name](row[name]) for name in COLUMNS}) for row in table]
    except (ValueError, TypeError) as error:
        raise StudyError(f"{path} is no table of this study: choose another file.") from error
