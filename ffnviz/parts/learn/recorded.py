"""The recorded bet that comes with the package: for a file, and for whoever has trained nothing."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ffnviz.figures.wording import Sentence, quoted
from ffnviz.jobs.learning import Guessing, Moment, Reading
from ffnviz.models.assets import ASSETS
from ffnviz.parts.course import Course, Status
from ffnviz.parts.learn.moments import as_read
from ffnviz.pictures.bars import Bars, replay_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.training.learn.record import HeldOut, Record, Sparsity

FILE = ASSETS / "everyday" / "bet.json"  # assets/everyday/README.md has the command
HELD_OUT = 500


@cache
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


def replayed(course: Course, key: str, who: str, labels: Sequence[tuple[str, str]]) -> Cell:
    """The likeliest words of a recorded training, with a slider over its moments.

    Args:
        course: the training.
        key: unique on the sheet.
        who: learns, in words.
        labels: the title and the colour of each network shown, the first of those trained.
    """
    text, n = course.moments[0][0].text, course.steps
    sentence: Sentence = [f"Recorded: {who} what stands in ", quoted(as_read(text)), "."]
    frames = []
    for moment in course.moments:
        losses = ", ".join(f"{each.held_out.loss:.2f}" for each in moment[: len(labels)])
        said = f"step {moment[0].step:,} of {n:,}: loss {losses}"
        frames.append((said, bars_of(moment, labels)))
    return replay_cell(Head(sentence, "learn-words", "relu"), frames, key, leads=True)


def bars_of(moment: Moment, labels: Sequence[tuple[str, str]]) -> list[Bars]:
    """The likeliest words of the first networks at a moment."""
    return [
        Bars(label, record.words, np.array(record.probabilities), colour)
        for (label, colour), record in zip(labels, moment, strict=False)
    ]


def _record(name: str, text: str, table: dict[str, Any]) -> Record:
    words: dict[str, float] = table["words"]
    blocks = tuple(Sparsity(**each) for each in table["blocks"])
    held_out = HeldOut(table["loss"], table["top5"], blocks)
    hidden = np.zeros((0, 0, 0), np.float16)
    return Record(name, table["step"], 0.0, text, (), tuple(words), tuple(words.values()),
                  held_out, hidden)  # fmt: skip
