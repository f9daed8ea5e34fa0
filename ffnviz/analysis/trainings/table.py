"""The log of small trainings, one finished run a line."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from ffnviz.models.assets import ASSETS
from ffnviz.models.text_encoding import read_text

TABLE = ASSETS / "study.csv"  # made by: ffnviz study --out assets/study.csv
RATE, FINAL = "rate", "final"  # phases: a run that looks for a learning rate, and one that counts


class StudyError(ValueError):
    """A file that is no log of trainings."""


@dataclass(frozen=True)
class Row:
    """One finished run; losses are in nats, of one masked word in each sentence."""

    variant: str  # its name
    phase: str  # RATE or FINAL
    learning_rate: float  # the highest; a warm-up before, a cosine to zero after
    seed: int  # of the initial weights and the batches
    steps: int
    tokens: int  # read in all steps
    parameters: int  # that are trained
    training_loss: float  # on some of the sentences that it was trained on
    loss: float  # on sentences that it never read: validation if RATE, held-out if FINAL
    top5: float  # share of the masked words among the five likeliest, of the same sentences
    version: str  # of ffnviz and of PyTorch
    processor: str

    @property
    def run(self) -> tuple[str, str, float, int, int]:
        """What tells it from other runs."""
        return self.variant, self.phase, self.learning_rate, self.seed, self.steps


COLUMNS = [field.name for field in fields(Row)]


@cache
def trainings() -> tuple[Row, ...]:
    """The trainings that come with the package."""
    return tuple(read_table(TABLE))


def read_table(path: Path) -> list[Row]:
    """The rows of a log, without repetitions.

    Raises:
        StudyError: if the file is no such log.
        OSError: if it cannot be read.
    """
    types: dict[Any, Any] = {field.name: field.type for field in fields(Row)}
    try:
        table = csv.DictReader(io.StringIO(read_text(path)))
        if table.fieldnames != COLUMNS:
            raise ValueError("its columns are others")
        rows = [Row(**{name: types[name](row[name]) for name in COLUMNS}) for row in table]
    except (ValueError, TypeError) as error:
        raise StudyError(f"{path} is no log of this study: choose another file.") from error
    return unique(rows)


def unique(rows: Sequence[Row]) -> list[Row]:
    """The rows without those of a run that is there already."""
    found: dict[tuple[str, str, float, int, int], Row] = {}
    for row in rows:
        found.setdefault(row.run, row)
    return list(found.values())


def written(rows: Sequence[Row]) -> bytes:
    """The log of some rows, in CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows([getattr(row, name) for name in COLUMNS] for row in rows)
    return text.getvalue().encode()
