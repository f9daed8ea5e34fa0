"""A block whose lines are to be put in order, and ten with a bug to find by their numbers."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.block import Block
from ffnviz.parts.experiments import cached_result, experiment_subject
from ffnviz.parts.sheet import Button, Choice, Control, Sheet, row, set_to
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.exercises import ProgramLine, Value, program_cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import Sentence, number, strong
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting

PADDING = 2  # rows of padding behind the sentence, as in a batch; the mask excludes them


@dataclass(frozen=True, eq=False)
class Variables:
    """The variables that the lines read and write."""

    x: Tensor  # the residual stream, (N, d_model); N is T + PADDING
    y: Tensor | None = None  # what the last line that writes y made of it; None before one has run
    # q, k, v: queries, keys and values, (n_heads, N, d_head); None before they are computed
    q: Tensor | None = None
    k: Tensor | None = None
    v: Tensor | None = None


class DoesNotFitError(ValueError):
    """A line cannot run, as a variable is missing or has another shape: says which."""


Line = Callable[[Variables], Variables]  # raises DoesNotFitError

RIGHT = "abcdefghijklm"  # the ids of the lines, in the right order
CODE: Mapping[str, str] = {
    "a": "y = norm_1(x)",
    "b": "q, k, v = heads(y @ W_qkv + b_qkv)",
    "c": "y = q @ k.mT / sqrt(d_head)",
    "d": "y = y.masked_fill(~allowed, -inf)",
    "e": "y = y.softmax(dim=-1)",
    "f": "y = y @ v",
    "g": "y = join(y) @ W_o + b_o",
    "h": "x = x + y",
    "i": "y = norm_2(x)",
    "j": "y = y @ W_1 + b_1",
    "k": "y = phi(y)",
    "l": "y = y @ W_2 + b_2",
    "m": "x = x + y",
}
WRITES_X = "hm"
WRITES_HEADS = "b"


def allowed(n_tokens: int, causal: bool) -> Tensor:
    """The attention mask, (N, N): no padding is attended to; causal, no later token either."""
    n = n_tokens + PADDING
    mask = (torch.arange(n) < n_tokens).expand(n, n)
    return mask.tril() if causal else mask


def y_of(given: Variables, *shape: int) -> Tensor:
    """The variable y, of the given shape if one is given."""
    y = _present(given.y, "y")
    if shape and y.shape != shape:
        raise DoesNotFitError(f"It needs y of shape {shaped(shape)}; y is {shaped(y.shape)}.")
    return y


def _present(value: Tensor | None, name: str) -> Tensor:
    if value is None:
        raise DoesNotFitError(f"{name} is not there yet: no line above makes it.")
    return value


def lines_of(block: Block, n_tokens: int) -> dict[str, Line]:
    """The lines by their ids, made of a block's own modules."""
    attention, ffn = block.attention, block.ffn
    n, d_model, d_ff = n_tokens + PADDING, ffn.expand.in_features, ffn.expand.out_features
    heads = attention.n_heads
    d_head = d_model // heads
    mask = allowed(n_tokens, attention.causal)

    def split(given: Variables) -> Variables:
        projected = attention.project_in(y_of(given, n, d_model)).unflatten(-1, (3, heads, -1))
        q, k, v = (part.transpose(-3, -2) for part in projected.unbind(-3))
        return replace(given, q=q, k=k, v=v)

    def scores(given: Variables) -> Tensor:
        return _present(given.q, "q") @ _present(given.k, "k").mT / math.sqrt(d_head)

    def joined(given: Variables) -> Tensor:
        y = y_of(given, heads, n, d_head).transpose(-3, -2).flatten(-2)
        mixed: Tensor = attention.project_out(y)
        return mixed

    def added(given: Variables) -> Variables:
        return replace(given, x=given.x + y_of(given, n, d_model))

    makes_y: dict[str, Callable[[Variables], Tensor]] = {
        "a": lambda given: block.attention_norm(given.x),
        "c": scores,
        "d": lambda given: y_of(given, heads, n, n).masked_fill(~mask, -math.inf),
        "e": lambda given: y_of(given).softmax(dim=-1),
        "f": lambda given: y_of(given, heads, n, n) @ _present(given.v, "v"),
        "g": joined,
        "i": lambda given: block.ffn_norm(given.x),
        "j": lambda given: ffn.expand(y_of(given, n, d_model)),
        "k": lambda given: ffn.activation.function(y_of(given)),
        "l": lambda given: ffn.compress(y_of(given, n, d_ff)),
    }
    others = {"b": split, "h": added, "m": added}
    return {name: to_y(make) for name, make in makes_y.items()} | others


def to_y(make: Callable[[Variables], Tensor]) -> Line:
    """The line that writes to y what is made of the variables."""
    return lambda given: replace(given, y=make(given))


def shaped(shape: Sequence[int]) -> str:
    """A shape as a page writes it: (10, 2,048)."""
    return f"({', '.join(f'{size:,}' for size in shape)})"


@dataclass(frozen=True, eq=False)
class LineResult:
    """What a line computed."""

    name: str  # the line's id
    value: Tensor | None  # the variable it wrote (v of q, k, v), None if it did not run
    fault: str = ""  # why it did not run; empty if it did, or if a line above did not


@torch.no_grad()
def run_lines(lines: Mapping[str, Line], order: Sequence[str], x: Tensor) -> list[LineResult]:
    """Run all lines in an order on the block's input, (T, d_model), up to the first fault."""
    variables, results = Variables(F.pad(x, (0, 0, 0, PADDING))), []
    for place, name in enumerate(order):
        try:
            variables = lines[name](variables)
        except DoesNotFitError as error:
            results.append(LineResult(name, None, str(error)))
            return results + [LineResult(later, None) for later in order[place + 1 :]]
        written = "x" if name in WRITES_X else "v" if name in WRITES_HEADS else "y"
        results.append(LineResult(name, getattr(variables, written)))
    return results


def of_sentence(value: Tensor, n_tokens: int) -> Tensor:
    """A line's result without the rows, and of scores the columns, of the padding."""
    n = n_tokens + PADDING
    rows = value[..., :n_tokens, :]
    return rows[..., :n_tokens] if value.shape[-1] == n and value.dim() == 3 else rows


def off_by(value: Tensor, real: Tensor, n_tokens: int) -> float:
    """‖value − real‖ / ‖real‖ over the sentence; infinite if shapes or infinite entries differ."""
    if value.shape != real.shape:
        return math.inf
    a, b = of_sentence(value, n_tokens), of_sentence(real, n_tokens)
    if not torch.equal(a.isfinite(), b.isfinite()):
        return math.inf
    finite = b.isfinite()
    return float((a[finite] - b[finite]).norm() / b[finite].norm())


DROPPED = 0.1  # the dropout rate for a network trained without dropout
SEEDS = (1, 2)  # of two runs, which only dropout makes different
COLUMNS = ("smallest", "largest", "mean", "length", "row sum", "two runs", "off by")


@dataclass(frozen=True)
class Case:
    """The block in which a bug is planted, and the sentence's length."""

    block: Block  # whose weights are used
    other: Block  # another block of the network; the same one if there is only one
    n_tokens: int  # of the sentence
    seed: int  # for dropout


Lines = dict[str, Line]
Plant = Callable[[Case, Lines], Lines]  # from all right lines to those that a bug replaces


@dataclass(frozen=True)
class Bug:
    """One bug."""

    name: str  # its id in links
    title: str  # its name on the page
    # line, column: the number that reveals it
    line: str
    column: str
    tells: str  # what that number shows
    plant: Plant  # makes the lines that run in place of the right ones


def _no_residual(_: Case, __: Lines) -> Lines:
    return {"m": lambda given: replace(given, x=y_of(given))}


def _phi_late(case: Case, _: Lines) -> Lines:
    ffn = case.block.ffn
    late = to_y(lambda given: ffn.activation.function(ffn.compress(y_of(given))))
    return {"k": lambda given: given, "l": late}


def _norm_moved(case: Case, _: Lines) -> Lines:
    norm = case.block.ffn_norm
    return {
        "i": to_y(lambda given: given.x),
        "m": lambda given: replace(given, x=norm(given.x + y_of(given))),
    }


def _untransposed(case: Case, _: Lines) -> Lines:
    out = case.block.attention.project_out
    return {"g": to_y(lambda given: out(y_of(given).reshape(given.x.shape)))}


def _shared(case: Case, _: Lines) -> Lines:
    return lines_of(case.other, case.n_tokens)


def _bias_twice(case: Case, _: Lines) -> Lines:
    expand = case.block.ffn.expand
    return {"j": to_y(lambda given: expand(y_of(given)) + expand.bias)}


def _wrong_axis(_: Case, __: Lines) -> Lines:
    # The softmax of a column of −∞ alone is NaN; libraries make it 0.
    return {"e": to_y(lambda given: y_of(given).softmax(dim=-2).nan_to_num(0.0))}


def _inverted(case: Case, _: Lines) -> Lines:
    mask = allowed(case.n_tokens, case.block.attention.causal)
    return {"d": to_y(lambda given: y_of(given).masked_fill(mask, -math.inf))}


def _no_second(case: Case, _: Lines) -> Lines:
    d_model = case.block.ffn.expand.in_features
    return {"l": to_y(lambda given: y_of(given)[..., :d_model])}


def _dropout(case: Case, lines: Lines) -> Lines:
    rate = case.block.ffn.dropout.p or DROPPED
    generator = torch.Generator().manual_seed(case.seed)

    def dropped(given: Variables) -> Tensor:
        hidden = y_of(lines["k"](given))
        kept = torch.rand(hidden.shape, generator=generator) >= rate
        return hidden * kept / (1 - rate)

    return {"k": to_y(dropped)}


PLANTED = {  # title, the line and the column of the number that reveals it, and what plants it
    "residual": ("No residual around the FFN", "m", "length", _no_residual),
    "phi": ("φ after W₂ instead of before", "k", "smallest", _phi_late),
    "norm": ("LayerNorm after the FFN's sum instead of before the FFN", "i", "length", _norm_moved),
    "transpose": ("Heads joined without transposing them back", "g", "off by", _untransposed),
    "shared": ("The other block's weights", "a", "off by", _shared),
    "bias": ("b₁ added twice", "j", "mean", _bias_twice),
    "axis": ("Softmax over the wrong axis", "e", "row sum", _wrong_axis),
    "mask": ("Mask inverted", "e", "row sum", _inverted),
    "second": ("W₂ not applied", "l", "smallest", _no_second),
    "dropout": ("Dropout left on", "k", "two runs", _dropout),
}
TELLS = {  # what that number shows
    "residual": "the last x is only as long as what the FFN wrote",
    "phi": "phi(y) reaches as far below zero as y before it",
    "norm": "norm_2(x) is as long as x itself",
    "transpose": "y @ v is still right, but join(y) is off",
    "shared": "the very first line is off already",
    "bias": "the mean before φ has moved by the mean of b₁",
    "axis": "the rows of softmax do not sum to 1",
    "mask": "the rows of softmax sum to 0 over the sentence: all tokens attend to padding",
    "second": "what the FFN writes reaches no further below zero than phi(y)",
    "dropout": "two runs on one sentence differ",
}
BUGS = [
    Bug(name, title, line, column, TELLS[name], plant)
    for name, (title, line, column, plant) in PLANTED.items()
]


@dataclass(frozen=True)
class Numbers:
    """Statistics of a line's result."""

    shape: tuple[int, ...]
    values: tuple[float | None, ...]  # one for each of COLUMNS; None where it does not apply


def numbers(case: Case, bug: Bug | None, x: Tensor) -> dict[str, Numbers]:
    """Statistics of each line's result on a sentence, (T, d_model), with a bug or without."""
    right = _planted_values(case, None, x)
    first, second = (_planted_values(replace(case, seed=seed), bug, x) for seed in SEEDS)
    by_line = {}
    for name, value in first.items():
        of_tokens = of_sentence(value, case.n_tokens)
        finite = of_tokens[of_tokens.isfinite()]
        finite = finite if len(finite) else of_tokens.new_zeros(1)
        by_line[name] = Numbers(
            tuple(value.shape),
            (
                float(finite.min()),
                float(finite.max()),
                float(finite.mean()),
                float(of_tokens.nan_to_num(0, 0, 0).norm(dim=-1).mean()),
                float(of_tokens.sum(dim=-1).max()) if name == "e" else None,
                off_by(second[name], value, case.n_tokens),
                off_by(value, right[name], case.n_tokens),
            ),
        )
    return by_line


def _planted_values(case: Case, bug: Bug | None, x: Tensor) -> dict[str, Tensor]:
    lines = lines_of(case.block, case.n_tokens)
    if bug is not None:
        lines = lines | bug.plant(case, lines)
    return {each.name: each.value for each in run_lines(lines, RIGHT, x) if each.value is not None}


NEEDED = {  # by the bugs that not every network can have
    "shared": "a second block",
    "bias": "biases",
    "second": "an FFN at least as wide as d_model",
}


def fitting(case: Case) -> tuple[Bug, ...]:
    """The bugs that make a difference in this network."""
    ffn = case.block.ffn
    lacking = {
        "shared": case.other is case.block,
        "bias": ffn.expand.bias is None,
        "second": ffn.expand.out_features < ffn.expand.in_features,
    }
    return tuple(bug for bug in BUGS if not lacking.get(bug.name))


TASKS = {"order": "Put in order", "find": "Find the bug"}
TASK = choice_setting("block_view", TASKS).with_control("Exercise")
MIXED = "kfbimcadlhegj"  # the first order
_FIRST = ("axis", "bias", "residual", "transpose", "dropout")
PATIENTS = (*_FIRST, "phi", "shared", "second", "norm", "mask")
OPEN = "open"
TO_DO = f"Drag the {number(str(len(RIGHT)))} lines into an order that runs and makes the block."


ORDER: Setting[str] = Setting(  # the ids of all lines
    "lines", MIXED, lambda text: text if sorted(text) == sorted(RIGHT) else MIXED, str
)
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
    shown = []
    for each in ran:
        made = _values(each, real[each.name], len(x))
        fault = each.fault if begun else ""
        shown.append(ProgramLine(each.name, code_of(run, each.name), made, fault))
    head = Head(_built(ran, real, len(x)) if begun else TO_DO, "build", run.card.colour)

    def order_by(names: list[str]) -> Set:
        return set_to(ORDER, "".join(names))

    program = program_cell("program", head, ("shape", "off by"), shown, order_by)
    mix = Button("Mix the lines", set_to(ORDER, None))
    return Sheet([row(program)], [TASK, mix, Button("Show the right order", set_to(ORDER, RIGHT))])


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
        return f"Line {number(str(at + 1))} cannot run on what the lines above it make."
    goal, stream = real[RIGHT[-1]].value, next(r for r in reversed(ran) if r.name in "hm").value
    assert goal is not None and stream is not None  # noqa: PT018, S101
    off = off_by(stream, goal, n_tokens)
    if off == 0:
        return f"It runs, and is the network's own block: x is off by {number('0')}."
    return f"It runs, but is another block: x is off by {number(_short(off))} of its length."


def finding(run: Run, values: Values) -> Sheet:
    """The right lines, of which one runs with a bug, and the numbers of each."""
    patient, guess = values[PATIENT], values[DIAGNOSIS]
    bug = BY_NAME[PATIENTS[patient - 1]]
    places = [str(n + 1) for n in range(len(PATIENTS))]
    names = list(DIAGNOSIS.options)

    def look_at(place: int) -> Set:
        return Set({PATIENT.name: str(place + 1), DIAGNOSIS.name: None})

    def diagnose(place: int) -> Set:
        return set_to(DIAGNOSIS, names[place])

    titles = list(DIAGNOSIS.options.values())
    controls: list[Control] = [
        TASK,
        Choice("Bug", places, look_at, patient - 1, style="slider"),
        Choice("Which bug is it?", titles, diagnose, names.index(guess)),
    ]
    if bug not in cached_result(run, "bugs that fit", lambda subject: fitting(_case(subject))):
        why = f"This bug cannot be planted in this network: it needs {NEEDED[bug.name]}."
        return Sheet([row(text_cell("diagnosis", f"{why} Try another.", tone="warning"))], controls)

    def measured(bug: Bug | None) -> dict[str, Numbers]:
        return cached_result(
            run,
            f"planted {bug and bug.name}",
            lambda subject: numbers(_case(subject), bug, _block_input(subject)),
        )

    results, right = measured(bug), measured(None)
    sentence = (
        f"Bug {number(str(patient))} of {len(PATIENTS)}: the lines shown are right, but the code "
        "that runs has one bug. Find it by its numbers."
    )
    head = Head(sentence, "build", run.card.colour)
    lines = [
        ProgramLine(name, code_of(run, name), _compared(results[name], right[name]))
        for name in RIGHT
    ]
    program = program_cell("program", head, ("shape", *COLUMNS), lines)
    return Sheet([row(verdict(bug, guess)), row(program)], controls)


def _case(subject: Subject) -> Case:
    blocks = list(subject.own.blocks)
    other = blocks[subject.block - 1 if subject.block else min(1, len(blocks) - 1)]
    return Case(subject.plain, other, len(subject.whole.tokens), 0)


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
        how = "Bold numbers differ from the real ones in brackets. On the left, choose a bug."
        return text_cell("diagnosis", how, tone="quiet")
    if guess == bug.name:
        said = f"The telling number: “{bug.column}” at `{CODE[bug.line]}`. Here {bug.tells}."
        return text_cell("diagnosis", strong("Right. "), said)
    other = BY_NAME[guess]
    said = (
        f"With that bug, {other.tells}; compare the column “{other.column}” at "
        f"`{CODE[other.line]}`."
    )
    return text_cell("diagnosis", strong("Not that one. "), said)
