"""The bet that the package brings, recorded: what a file shows, which cannot train."""

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
    told = json.loads(FILE.read_text(encoding="utf-8"))
    networks = [
        [_record(name, told["text"], each) for each in records]
        for name, records in told["networks"].items()
    ]
    guessing = Guessing(**told["guessing_by_frequency"])
    return Course(
        Status.ENDED, tuple(zip(*networks, strict=True)), Reading(guessing, 0, HELD_OUT),
        steps=told["steps"], recorded=True,
    )  # fmt: skip


def _record(name: str, text: str, told: dict[str, Any]) -> Record:
    words: dict[str, float] = told["words"]
    blocks = tuple(Sparsity(**each) for each in told["blocks"])
    held_out = HeldOut(told["loss"], told["top5"], blocks)
    nothing = np.zeros((0, 0, 0), np.float16)
    return Record(
        name, told["step"], 0.0, text, (), tuple(words), tuple(words.values()),
        held_out, nothing,
    )  # fmt: skip
