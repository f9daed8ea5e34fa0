"""The recorded bet that comes with the package: a file shows it, as it cannot train."""

import json
from typing import Any

import numpy as np

from ffnviz.jobs.learning import Guessing, Reading
from ffnviz.models.assets import ASSETS
from ffnviz.parts.course import Course, Status
from ffnviz.training.learn.record import HeldOut, Record, Sparsity

FILE = ASSETS / "everyday" / "bet.json"  # assets/everyday/README.md has the command
HELD_OUT = 500


def recorded() -> Course:
    """What `ffnviz learn --json` wrote."""
    table = json.loads(FILE.read_text(encoding="utf-8"))
    networks = [
        [_record(name, table["text"], each) for each in records]
        for name, records in table["networks"].items()
    ]
    guessing = Guessing(**table["guessing_by_frequency"])
    return Course(
        Status.ENDED, tuple(zip(*networks, strict=True)), Reading(guessing, 0, HELD_OUT),
        steps=table["steps"], recorded=True,
    )  # fmt: skip


def _record(name: str, text: str, table: dict[str, Any]) -> Record:
    words: dict[str, float] = table["words"]
    blocks = tuple(Sparsity(**each) for each in table["blocks"])
    held_out = HeldOut(table["loss"], table["top5"], blocks)
    hidden = np.zeros((0, 0, 0), np.float16)
    return Record(name, table["step"], 0.0, text, (), tuple(words), tuple(words.values()),
                  held_out, hidden)  # fmt: skip
