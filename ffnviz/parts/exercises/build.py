"""A block whose lines are to be put in order, and ten with a bug to find by their numbers."""

from collections.abc import Sequence
from functools import partial

from torch import Tensor

from ffnviz.analysis.exercises.block_lines import CODE, RIGHT, LineResult, lines_of, off_by, shaped
from ffnviz.analysis.exercises.block_lines import run as run_lines
from ffnviz.analysis.exercises.planted import BUGS, COLUMNS, Bug, Case, Numbers, fitting, numbers
from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.number_format import short
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.experiments import cached_result, experiment_subject
from ffnviz.parts.sheet import Button, Choice, Control, Sheet, row, set_to
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.program import ProgramLine, Value, program_cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting

TASK = choice_setting("block_view", {"order": "Put in order", "find": "Find the bug"}).with_control(
    "Exercise"
)
MIXED = "kfbimcadlhegj"  # the first order
PATIENTS = (
    "axis", "bias", "residual", "transpose", "dropout", "phi", "shared", "second", "norm", "mask",
)  # fmt: skip
OPEN = "open"
TO_DO: Sentence = [
    "Drag the ", number(str(len(RIGHT))), " lines into an order that runs and makes the block."
]  # fmt: skip


def _order(text: str) -> str:
    """The ids of all lines in some order; in the first order if the text is anything else."""
    return text if sorted(text) == sorted(RIGHT) else MIXED


ORDER: Setting[str] = Setting("lines", MIXED, _order, str)
PATIENT = count_setting("patient", 1, 1, len(PATIENTS))
DIAGNOSIS = choice_setting("diagnosis", {OPEN: "not yet"} | {bug.name: bug.title for bug in BUGS})
SETTINGS = (TASK, ORDER, PATIENT, DIAGNOSIS)
BY_NAME = {bug.name: bug for bug in BUGS}


def sheet(run: Run, values: Values) -> Sheet:
    """The program to put in order, or the one with a bug."""
    return finding(run, values) if values[TASK] == "find" else building(run, values)


def building(run: Run, values: Values) -> Sheet:
    """The lines in the chosen order, and what each of them makes."""
    subject, order = experiment_subject(run), values[ORDER]
    x = _block_input(subject)
    lines = lines_of(subject.plain, len(x))
    real = {each.name: each for each in run_lines(lines, RIGHT, x)}
    ran = run_lines(lines, order, x)
    begun = order != MIXED
    shown = [
        ProgramLine(each.name, code_of(run, each.name), _values(each, real[each.name], len(x)),
                    each.fault if begun else "")
        for each in ran
    ]  # fmt: skip
    said = _built(ran, real, len(x)) if begun else TO_DO
    program = program_cell(
        "program", Head(said, "build", run.card.colour), ("shape", "off by"),
        shown, lambda names: set_to(ORDER, "".join(names)),
    )  # fmt: skip
    buttons: list[Control] = [
        TASK,
        Button("Mix the lines", set_to(ORDER, None)),
        Button("Show the right order", set_to(ORDER, RIGHT)),
    ]
    return Sheet([row(program)], buttons)


def code_of(run: Run, name: str) -> str:
    """A line with the network's own φ."""
    return CODE[name].replace("phi(y)", run.card.phi.torch.replace("z", "y"))


def _values(ran: LineResult, real: LineResult, n_tokens: int) -> list[Value]:
    if ran.value is None or real.value is None:
        return []
    off = off_by(ran.value, real.value, n_tokens)
    shape = _value(shaped(ran.value.shape), shaped(real.value.shape))
    return [shape, Value(_short(off), "0" if off else "")]


def _value(text: str, real: str) -> Value:
    """A number or shape, with the real one where that reads otherwise."""
    return Value(text, "" if text == real else real)


def _built(ran: Sequence[LineResult], real: dict[str, LineResult], n_tokens: int) -> Sentence:
    at = next((place for place, each in enumerate(ran) if each.fault), None)
    if at is not None:
        return ["Line ", number(str(at + 1)), " cannot run on what the lines above it make."]
    goal, stream = real[RIGHT[-1]].value, next(r for r in reversed(ran) if r.name in "hm").value
    assert goal is not None and stream is not None  # noqa: PT018, S101
    off = off_by(stream, goal, n_tokens)
    if off == 0:
        return ["It runs, and is the network's own block: x is off by ", number("0"), "."]
    return ["It runs, but is another block: x is off by ", number(_short(off)), " of its norm."]


def finding(run: Run, values: Values) -> Sheet:
    """The right lines with a bug behind one of them, and the numbers of each."""
    patient, guess = values[PATIENT], values[DIAGNOSIS]
    bug = BY_NAME[PATIENTS[patient - 1]]
    places = [str(n + 1) for n in range(len(PATIENTS))]
    names = list(DIAGNOSIS.options)
    controls: list[Control] = [
        TASK,
        Choice("Block", places, lambda at: Set({PATIENT.name: str(at + 1), DIAGNOSIS.name: None}),
               patient - 1, style="slider"),
        Choice("Which bug is it?", list(DIAGNOSIS.options.values()),
               lambda at: set_to(DIAGNOSIS, names[at]), names.index(guess)),
    ]  # fmt: skip
    if bug not in cached_result(run, "bugs that fit", lambda subject: fitting(_case(subject))):
        why = "This bug cannot be planted here: it needs a second block, and biases. Try another."
        return Sheet([row(text_cell("diagnosis", why, tone="warning"))], controls)
    results, right = (
        cached_result(run, f"planted {each and each.name}", partial(_numbers, bug=each))
        for each in (bug, None)
    )
    head = Head(
        ["Block ", number(str(patient)), ": these lines stand there, but one bug runs behind them. "
         "Find it by its numbers."], "build", run.card.colour,
    )  # fmt: skip
    lines = [
        ProgramLine(name, code_of(run, name), _compared(results[name], right[name]))
        for name in RIGHT
    ]
    return Sheet(
        [row(verdict(bug, guess)), row(program_cell("program", head, ("shape", *COLUMNS), lines))],
        controls,
    )


def _case(subject: Subject) -> Case:
    blocks = list(subject.own.blocks)
    other = blocks[subject.block - 1 if subject.block else min(1, len(blocks) - 1)]
    return Case(subject.plain, other, len(subject.whole.tokens), 0)


def _numbers(subject: Subject, bug: Bug | None) -> dict[str, Numbers]:
    return numbers(_case(subject), bug, _block_input(subject))


def _block_input(subject: Subject) -> Tensor:
    return subject.whole.blocks[subject.block].input.cpu().double()


def _compared(wrong: Numbers, right: Numbers) -> list[Value]:
    pairs = zip(wrong.values, right.values, strict=True)
    return [
        _value(shaped(wrong.shape), shaped(right.shape)),
        *(_value(_short(value), _short(real)) for value, real in pairs),
    ]


def _short(value: float | None) -> str:
    if value is None:
        return ""
    if value == float("inf"):
        return "∞"
    return "0" if abs(value) < 1e-12 else short(value, 3)


def verdict(bug: Bug, guess: str) -> Cell:
    """Whether the guess was right, and which number shows it."""
    if guess == OPEN:
        return text_cell("diagnosis", "Bold numbers differ from the real ones in brackets. "
                         "Choose the bug at the left.", tone="quiet")  # fmt: skip
    if guess == bug.name:
        said = f"The number that tells: {bug.column} at `{CODE[bug.line]}`. Here {bug.tells}."
        return text_cell("diagnosis", [("Right. ", "strong")], said)
    other = BY_NAME[guess]
    said = f"Then {other.tells}: see {other.column} at `{CODE[other.line]}`."
    return text_cell("diagnosis", [("Not that one. ", "strong")], said)
