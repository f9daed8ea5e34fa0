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


class DoesNotFitError(ValueError):
    """A line cannot run, as a variable is missing or has another shape: says which."""


class Variables(dict[str, Tensor]):
    """The variables that the lines read and write.

    x is the residual stream, (N, d_model), where N is T + PADDING; y, what the last line that
    writes y made of it; q, k and v, queries, keys and values, (n_heads, N, d_head).
    """

    def __missing__(self, name: str) -> Tensor:
        raise DoesNotFitError(f"{name} is not there yet: no line above makes it.")


Line = Callable[[Variables], dict[str, Tensor]]  # gives what it writes; raises DoesNotFitError
Lines = dict[str, Line]  # by their ids

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


def allowed(n_tokens: int, causal: bool) -> Tensor:
    """The attention mask, (N, N): no padding is attended to; causal, no later token either."""
    n = n_tokens + PADDING
    mask = (torch.arange(n) < n_tokens).expand(n, n)
    return mask.tril() if causal else mask


def y_of(given: Variables, *shape: int) -> Tensor:
    """The variable y, which must have that shape."""
    y = given["y"]
    if y.shape != shape:
        raise DoesNotFitError(f"It needs y of shape {shaped(shape)}; y is {shaped(y.shape)}.")
    return y


def lines_of(block: Block, n_tokens: int) -> Lines:
    """The lines, made of a block's own modules."""
    attention, ffn = block.attention, block.ffn
    n, d_model, d_ff = n_tokens + PADDING, ffn.expand.in_features, ffn.expand.out_features
    heads = attention.n_heads
    d_head = d_model // heads
    mask = allowed(n_tokens, attention.causal)

    def split(given: Variables) -> dict[str, Tensor]:
        projected = attention.project_in(y_of(given, n, d_model)).unflatten(-1, (3, heads, -1))
        q, k, v = (part.transpose(-3, -2) for part in projected.unbind(-3))
        return {"q": q, "k": k, "v": v}

    def joined(given: Variables) -> dict[str, Tensor]:
        y = y_of(given, heads, n, d_head).transpose(-3, -2).flatten(-2)
        return {"y": attention.project_out(y)}

    def added(given: Variables) -> dict[str, Tensor]:
        return {"x": given["x"] + y_of(given, n, d_model)}

    return {
        "a": lambda given: {"y": block.attention_norm(given["x"])},
        "b": split,
        "c": lambda given: {"y": given["q"] @ given["k"].mT / math.sqrt(d_head)},
        "d": lambda given: {"y": y_of(given, heads, n, n).masked_fill(~mask, -math.inf)},
        "e": lambda given: {"y": given["y"].softmax(dim=-1)},
        "f": lambda given: {"y": y_of(given, heads, n, n) @ given["v"]},
        "g": joined,
        "h": added,
        "i": lambda given: {"y": block.ffn_norm(given["x"])},
        "j": lambda given: {"y": ffn.expand(y_of(given, n, d_model))},
        "k": lambda given: {"y": ffn.activation.function(given["y"])},
        "l": lambda given: {"y": ffn.compress(y_of(given, n, d_ff))},
        "m": added,
    }


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
    variables, results = Variables(x=F.pad(x, (0, 0, 0, PADDING))), []
    for place, name in enumerate(order):
        try:
            written = lines[name](variables)
        except DoesNotFitError as error:
            results.append(LineResult(name, None, str(error)))
            return results + [LineResult(later, None) for later in order[place + 1 :]]
        variables |= written
        last = list(written)[-1]  # v, if a line writes q, k and v
        results.append(LineResult(name, written[last]))
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


@dataclass(frozen=True)
class Bug:
    """One bug."""

    name: str  # its id in links
    title: str  # its name on the page
    # line, column: the number that reveals it
    line: str
    column: str
    tells: str  # what that number shows


SEEN = {  # title, and the line and the column of the number that reveals it
    "residual": ("No residual around the FFN", "m", "length"),
    "phi": ("φ after W₂ instead of before", "k", "smallest"),
    "norm": ("LayerNorm after the FFN's sum instead of before the FFN", "i", "length"),
    "transpose": ("Heads joined without transposing them back", "g", "off by"),
    "shared": ("The other block's weights", "a", "off by"),
    "bias": ("b₁ added twice", "j", "mean"),
    "axis": ("Softmax over the wrong axis", "e", "row sum"),
    "mask": ("Mask inverted", "e", "row sum"),
    "second": ("W₂ not applied", "l", "smallest"),
    "dropout": ("Dropout left on", "k", "two runs"),
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
BUGS = {
    name: Bug(name, title, line, column, TELLS[name])
    for name, (title, line, column) in SEEN.items()
}


def planted(case: Case, right: Lines) -> dict[str, Lines]:
    """For each bug the lines that run in place of the right ones."""
    attention, ffn, norm = case.block.attention, case.block.ffn, case.block.ffn_norm
    phi, d_model = ffn.activation.function, ffn.expand.in_features
    mask = allowed(case.n_tokens, attention.causal)
    rate = ffn.dropout.p or DROPPED
    generator = torch.Generator().manual_seed(case.seed)

    def untransposed(given: Variables) -> dict[str, Tensor]:
        return {"y": attention.project_out(given["y"].reshape(given["x"].shape))}

    def dropped(given: Variables) -> dict[str, Tensor]:
        hidden = right["k"](given)["y"]
        kept = torch.rand(hidden.shape, generator=generator) >= rate
        return {"y": hidden * kept / (1 - rate)}

    return {
        "residual": {"m": lambda given: {"x": given["y"]}},
        "phi": {
            "k": lambda given: {"y": given["y"]},
            "l": lambda given: {"y": phi(ffn.compress(given["y"]))},
        },
        "norm": {
            "i": lambda given: {"y": given["x"]},
            "m": lambda given: {"x": norm(given["x"] + given["y"])},
        },
        "transpose": {"g": untransposed},
        "shared": lines_of(case.other, case.n_tokens),
        "bias": {"j": lambda given: {"y": ffn.expand(given["y"]) + ffn.expand.bias}},
        # The softmax of a column of −∞ alone is NaN; libraries make it 0.
        "axis": {"e": lambda given: {"y": given["y"].softmax(dim=-2).nan_to_num(0.0)}},
        "mask": {"d": lambda given: {"y": given["y"].masked_fill(mask, -math.inf)}},
        "second": {"l": lambda given: {"y": given["y"][..., :d_model]}},
        "dropout": {"k": dropped},
    }


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
        lines = lines | planted(case, lines)[bug.name]
    return {each.name: each.value for each in run_lines(lines, RIGHT, x) if each.value is not None}


def impossible(case: Case) -> dict[str, str]:
    """The bugs that would make no difference in this network, each with what it lacks for them."""
    expand = case.block.ffn.expand
    needs = {
        "shared": ("a second block", case.other is not case.block),
        "bias": ("biases", expand.bias is not None),
        "second": ("an FFN at least as wide as d_model", expand.out_features >= expand.in_features),
    }
    return {name: need for name, (need, is_there) in needs.items() if not is_there}


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
DIAGNOSES = {OPEN: "not yet"} | {name: bug.title for name, bug in BUGS.items()}
DIAGNOSIS = choice_setting("diagnosis", DIAGNOSES)
SETTINGS = (TASK, ORDER, PATIENT, DIAGNOSIS)


def sheet(run: Run, values: Values) -> Sheet:
    """The program to put in order, or the one with a bug."""
    return finding(run, values) if values[TASK] == "find" else building(run, values)


def building(run: Run, values: Values) -> Sheet:
    """The lines in the chosen order, and what each of them makes."""
    subject, order = experiment_subject(run), values[ORDER]
    x = _block_input(subject)
    lines = lines_of(subject.plain, len(x))
    real = {each.name: each.value for each in run_lines(lines, RIGHT, x)}
    ran = run_lines(lines, order, x)
    begun = order != MIXED
    shown = []
    for each in ran:
        made: list[Value] = []
        goal = real[each.name]
        if each.value is not None and goal is not None:
            off = off_by(each.value, goal, len(x))
            shape = _value(shaped(each.value.shape), shaped(goal.shape))
            made = [shape, Value(_short(off), "0" if off else "")]
        fault = each.fault if begun else ""
        shown.append(ProgramLine(each.name, code_of(run, each.name), made, fault))
    head = Head(_built(ran, real[RIGHT[-1]], len(x)) if begun else TO_DO, "build", run.card.colour)

    def order_by(names: list[str]) -> Set:
        return set_to(ORDER, "".join(names))

    program = program_cell("program", head, ("shape", "off by"), shown, order_by)
    mix = Button("Mix the lines", set_to(ORDER, None))
    return Sheet([row(program)], [TASK, mix, Button("Show the right order", set_to(ORDER, RIGHT))])


def code_of(run: Run, name: str) -> str:
    """A line with the network's own φ."""
    return CODE[name].replace("phi(y)", run.card.phi.torch.replace("z", "y"))


def _value(text: str, real: str) -> Value:
    """A number or shape, with the real one where that reads otherwise."""
    return Value(text, "" if text == real else real)


def _built(ran: Sequence[LineResult], goal: Tensor | None, n_tokens: int) -> Sentence:
    at = next((place for place, each in enumerate(ran) if each.fault), None)
    if at is not None:
        return f"Line {number(str(at + 1))} cannot run on what the lines above it make."
    stream = next(each.value for each in reversed(ran) if CODE[each.name].startswith("x"))
    assert goal is not None and stream is not None  # noqa: PT018, S101
    off = off_by(stream, goal, n_tokens)
    if off == 0:
        return f"It runs, and is the network's own block: x is off by {number('0')}."
    return f"It runs, but is another block: x is off by {number(_short(off))} of its length."


def finding(run: Run, values: Values) -> Sheet:
    """The right lines, of which one runs with a bug, and the numbers of each."""
    patient, guess = values[PATIENT], values[DIAGNOSIS]
    bug = BUGS[PATIENTS[patient - 1]]
    places = [str(n + 1) for n in range(len(PATIENTS))]
    names = list(DIAGNOSES)

    def look_at(place: int) -> Set:
        return Set({PATIENT.name: str(place + 1), DIAGNOSIS.name: None})

    controls: list[Control] = [
        TASK,
        Choice("Bug", places, look_at, patient - 1, style="slider"),
        Choice(
            "Which bug is it?",
            list(DIAGNOSES.values()),
            lambda place: set_to(DIAGNOSIS, names[place]),
            names.index(guess),
        ),
    ]
    lacking = cached_result(run, "impossible bugs", lambda subject: impossible(_case(subject)))
    if bug.name in lacking:
        why = f"This bug cannot be planted in this network: it needs {lacking[bug.name]}."
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
    other = BUGS[guess]
    said = (
        f"With that bug, {other.tells}; compare the column “{other.column}” at "
        f"`{CODE[other.line]}`."
    )
    return text_cell("diagnosis", strong("Not that one. "), said)
