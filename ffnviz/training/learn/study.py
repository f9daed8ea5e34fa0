"""A table of many small trainings, each variant from the same seeds."""

import csv
import io
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from ffnviz.analysis.trainings.table import COLUMNS, Row, read_table
from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.training.learn.learner import STEPS_A_MINUTE, Learner, Plan

TEXT = f"What {MASK} is it?"  # watched, but not in the table


def study(
    path: Path,
    variants: Sequence[str],
    seeds: Sequence[int],
    report: Callable[[int, int, Row], None],
    steps: int = STEPS_A_MINUTE,
) -> list[Row]:
    """Train the networks that are not yet in the table, and write it anew after each.

    Interrupted at any time, it goes on with the first training that is not in the table. All
    variants come from one seed before the next is begun, so that what is there can be compared.

    Args:
        path: of the table, CSV.
        variants: their names.
        seeds: of each.
        report: called with how many are done, how many there are, and the last row.
        steps: of each training.

    Raises:
        StudyError: if the file is no table of trainings.
        OSError: if it cannot be read or written.
    """
    rows = read_table(path) if path.exists() else []
    wanted = list(product(seeds, variants))
    known = {(row.variant, row.seed, row.steps) for row in rows}
    for place, (seed, name) in enumerate(wanted, start=1):
        if (name, seed, steps) not in known:
            rows.append(_trained(Plan(name, TEXT, steps, seed)))
            replace_file(path, _written(rows))
            report(place, len(wanted), rows[-1])
    return rows


def _trained(plan: Plan) -> Row:
    learner = Learner(plan)
    for record in learner.learn():
        last = record.held_out
    first, second = last.blocks[0], last.blocks[-1]
    n = sum(weights.numel() for weights in learner.encoder.parameters() if weights.requires_grad)
    return Row(
        plan.name, plan.seed, plan.steps, n, last.loss, last.top5,
        first.active, second.active, first.dead, second.dead,
    )  # fmt: skip


def _written(rows: Sequence[Row]) -> bytes:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows([getattr(row, name) for name in COLUMNS] for row in rows)
    return text.getvalue().encode()
