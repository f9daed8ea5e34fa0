"""What both parts of Learn share: the watched sentence, the bar, texts to read, and the loss."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from ffnviz.analysis.journey import words_of
from ffnviz.jobs.learning import Learned, Moment, Reading
from ffnviz.models.config import config
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.parts.sheet import Answer, Button, Control, Upload, set_to
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.page import Progress, learn_bar_cell
from ffnviz.pictures.plot import Figure, Lines, Options, axis, figure, line_trace, vertical_line
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import counted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting
from ffnviz.training.learn.learner import STEPS_A_RECORD
from ffnviz.training.learn.text import LONGEST, OwnTextError, sentences_in


class Status(Enum):
    """The status of a training."""

    NEW = "new"
    WAITS = "waits"
    RUNS = "runs"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True)
class Course:
    """A training so far."""

    status: Status
    moments: Sequence[Moment] = ()  # records of the networks, the first before their first step
    reading: Reading = field(default_factory=Reading)  # what is read
    file: str = ""  # the name of the visitor's own text that is read, or will be
    steps: int = 0  # of the plan
    before: int = 0  # how many trainings of others must end before it begins
    learned: Learned | None = None  # the networks where they stopped, if they have
    problem: str = ""  # why it ended before its time, in words
    recorded: bool = False  # whether it is one that comes with the package
    networks: tuple[str, ...] = ()  # the names of the variants that are trained; empty before


def evaluated(course: Course) -> list[Moment]:
    """The moments at which the networks were evaluated."""
    return [moment for moment in course.moments if moment[0].hidden is not None]


def curves(
    course: Course,
    at: int,  # the moment to mark
    series: Lines,  # a value at each moment at which the networks were evaluated
    largest: float,  # the largest value that there is room for
    title: str,
    base: tuple[str, float] | None = None,  # name and height of a level line
) -> Figure:
    """Lines over the steps; the axes have their whole reach from the first moment on."""
    steps = np.array([moment[0].step for moment in evaluated(course)])
    hover = "%{y:.3g} after %{x} steps<extra>%{fullData.name}</extra>"
    dots = 0 if len(steps) > 1 else 12
    looks: Options = {"dots": dots, "cliponaxis": False, "hovertemplate": hover}
    traces = [
        line_trace(name, steps, values, colour, 3, dash, **looks)
        for name, (values, colour, dash) in series.items()
    ]
    if base is not None:
        name, height = base
        ends = np.array([0, course.steps])
        hover = "%{y:.3g}<extra>%{fullData.name}</extra>"
        level = np.full(2, height)
        traces.append(line_trace(name, ends, level, "@muted", 2, "dash", hovertemplate=hover))
    corner = {"x": 1, "xanchor": "right", "y": 1, "yanchor": "top"}
    return figure(
        traces,
        axis("steps", range=[0, course.steps], nticks=6),
        axis(title, range=[0, largest], nticks=5),
        shapes=[vertical_line(course.moments[at][0].step, 1.5)],
        # Where no curve of a training comes: charts are low, and a legend above takes their room.
        legend={"orientation": "h", **corner, "bgcolor": "rgba(0, 0, 0, 0)"},
        margin={"l": 70, "r": 20, "t": 12, "b": 56},
    )


def loss_curves(course: Course, at: int, networks: list[tuple[str, str]]) -> Figure:
    """The loss on sentences that are not trained on, a line a network, with a moment marked.

    `networks` has the name and the colour of each.
    """
    series = {}
    for place, (name, colour) in enumerate(networks):
        losses = np.array([moment[place].held_out.loss for moment in evaluated(course)])
        series[name] = (losses, colour, "dot" if place else "solid")
    first = max(record.held_out.loss for record in course.moments[0])
    largest = 1.4 * first  # the legend has the room above
    base = ("guessing by frequency", course.reading.guessing.loss)
    return curves(course, at, series, largest, "loss, nats", base)


AT = count_setting("learn_at", -1, -1, 10_000)  # the place of a moment; -1: the last
WORDS_BEFORE, WORDS_AFTER = 10, 6  # that are read with the hidden one
LONGEST_NAME = 40  # of a file
NOTHING_READ = "It has read nothing yet. Within a minute it learns to guess hidden words."
OFF = "Training is switched off on this server (--train-minutes 0)."


def watched(run: Run) -> str:
    """The sentence with one word hidden: the one that is, or else the chosen, or the last."""
    text = run.trace.text
    mask = re.search(re.escape(MASK), text, re.IGNORECASE)
    if mask:
        start, end = mask.span()
    else:
        words = words_of(text, run.trace.tokens)
        word = words[run.token] or next((each for each in reversed(words) if each), None)
        start, end = (word.start, word.end) if word else (len(text), len(text))
    before, after = text[:start].split(" ")[-WORDS_BEFORE:], text[end:].split(" ")[:WORDS_AFTER]
    return f"{' '.join(before)}{MASK}{' '.join(after)}"


def as_read(text: str) -> str:
    """A watched sentence as it is displayed."""
    return text.replace(MASK, "___")


def chosen(course: Course, values: Values) -> int:
    """The index of the moment that is shown."""
    last = len(course.moments) - 1
    return last if values[AT] < 0 else min(values[AT], last)


def bar(
    name: str, course: Course, values: Values, label: str, *, file: str, waits_for: str = ""
) -> Cell:
    """The buttons and the slider of a training.

    `label` is the first button's; the last saves `file`. `waits_for` says why it cannot begin yet.
    """
    at, last = chosen(course, values), len(course.moments) - 1
    why_not = OFF if config().train_minutes <= 0 else waits_for
    new = course.status is Status.NEW
    progress = Progress(
        course.status.value,
        max(0, at),
        len(course.moments),
        max(len(course.moments), course.steps // STEPS_A_RECORD + 1),
        "" if new and why_not and not course.problem else _progress_text(course, at),
        label,
        why_not if new else "",
    )
    learned = course.learned
    still = course.status in (Status.PAUSED, Status.ENDED)
    content = learned.folders if learned is not None and still else b""
    return learn_bar_cell(
        f"{name}-bar",
        progress,
        on_ask=lambda what: ("train", name, what, set_to(AT, None)),
        on_move=lambda place: set_to(AT, None if place == last else place),
        file=(file, content) if content else None,
        can_show=config().learned is not None,
    )


def own_text_controls() -> list[Control]:
    """The controls that have the next training read a text of the visitor's own, or ours again."""
    about = (
        f"Plain text, up to {LONGEST:,} characters; the next run reads it. It is not kept beyond "
        "this visit."
    )

    def read(name: str, text: str) -> Any:
        try:
            sentences_in(text)
        except OwnTextError as error:
            return Answer(None, text_cell("learn-own", str(error), tone="warning"))
        return "read", name[:LONGEST_NAME], text

    upload = Upload("Read a text of yours", ".txt", LONGEST, read, about)
    return [upload, Button("Read everyday sentences", lambda: ("read", "", ""))]


def _progress_text(course: Course, at: int) -> str:
    if course.problem:
        return course.problem
    if course.status is Status.NEW:
        unread = NOTHING_READ if course.moments else ""
        return f"Will read “{course.file}”." if course.file else unread
    if course.status is Status.WAITS:
        n = course.before
        return f"Waiting for {n} other{'s' * (n > 1)} …" if n else "Begins …"
    if course.status is Status.RUNS and len(course.moments) <= 1:
        return "Reading the sentences …"
    if not course.moments:
        return ""
    record = course.moments[at][0]
    said = f"step {record.step:,} of {course.steps:,} · {record.seconds:.0f} s of one core"
    if course.file:
        said += f" · reads “{course.file}”: {counted(course.reading.n_sentences, 'sentence')}"
    if course.learned is not None and course.learned.spent and course.status is Status.ENDED:
        said += f" · the {config().train_minutes:g}-minute limit is reached"
    return said
