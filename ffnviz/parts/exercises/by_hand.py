"""An FFN by hand: small numbers forward and back, XOR, and one neuron of the typed sentence.

The chain rule, layer by layer (Rumelhart, Hinton & Williams 1986): ∂L/∂y = y − t,
∂L/∂h = ∂L/∂y W₂ᵀ, ∂L/∂z = ∂L/∂h where z > 0 and 0 elsewhere, ∂L/∂W₁ = xᵀ ∂L/∂z.
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from ffnviz.analysis import by_hand
from ffnviz.analysis.by_hand import (
    D_FF,
    D_MODEL,
    SIGNS,
    Blank,
    Ints,
    Slip,
    SmallFfn,
    small_ffn,
    written,
)
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.sheet import Choice, Control, Download, NumberBox, Sheet, row, set_to
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.exercises import (
    LONGEST,
    MOST,
    WEIGHTS,
    Gap,
    Step,
    Table,
    by_hand_cell,
    xor_cell,
)
from ffnviz.pictures.wording import number, quoted
from ffnviz.state.actions import ChooseNeuron, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting

MOST_GAPS = 11  # gaps
OTHER_SIGNS = re.compile("[^0-9.+-]")  # that no number needs
NAME = re.compile("[0-9a-f]{8}")
Typed = tuple[str, ...]  # the exercise's name, and what stands in each gap


def read(text: str) -> Typed:
    """A link's text: "a1b2c3d4_4_-2" has the answers 4 and −2 to the exercise a1b2c3d4."""
    name, *gaps = text.split("_")[: MOST_GAPS + 1]
    return (name, *map(plain, gaps)) if NAME.fullmatch(name) else ()


def plain(text: str) -> str:
    """A typed number with the signs that a link has, cut to what a gap takes."""
    usual = text.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-").replace(",", ".")
    return OTHER_SIGNS.sub("", usual)[:LONGEST]


def answers(typed: Typed, exercise: str) -> Sequence[str]:
    """What stands in the gaps; nothing if it belongs to another exercise."""
    return typed[1:] if typed[:1] == (exercise,) else ()


def name_of(*what: object) -> str:
    """A short name of an exercise, from what distinguishes it from others."""
    return f"{zlib.crc32(repr(what).encode()):08x}"


TYPED: Setting[Typed] = Setting("typed", (), read, "_".join)


STYLE = """
@page { size: A4; margin: 20mm; }
body { font: 12pt/1.4 Georgia, serif; max-width: 170mm; margin: 0 auto; }
section { break-after: page; }
section:last-child { break-after: auto; }
h1 { font-size: 17pt; margin: 0 0 4mm; } h2 { font-size: 13pt; margin: 8mm 0 2mm; }
.name { float: right; font-size: 11pt; }
.given { display: flex; gap: 12mm; align-items: flex-end; }
table { border-collapse: collapse; } caption { text-align: left; }
td { border: 0.4pt solid #000; padding: 1mm 3mm; text-align: right; min-width: 7mm; }
.gap { margin: 6mm 0; }
.gap i { display: inline-block; width: 120mm; border-bottom: 0.4pt solid #000; }
.small { columns: 2; column-gap: 10mm; font-size: 10pt; }
.small div { break-inside: avoid; margin-bottom: 5mm; }
.small b { display: block; } .small p { margin: 0; font-variant-numeric: tabular-nums; }
"""


def worksheets(seeds: Iterable[int]) -> str:
    """A page a seed, with space for the sums."""
    return _page("An FFN by hand", "".join(_sheet(small_ffn(seed)) for seed in seeds))


def solutions(seeds: Iterable[int]) -> str:
    """The solutions of all seeds, with every sum written out."""
    title, solved = "An FFN by hand: solutions", ""
    for seed in seeds:
        worked = by_hand.worked(small_ffn(seed))
        lines = "".join(f"<p>{name} = {escape(line)}</p>" for name, line in worked)
        solved += f"<div><b>Exercise {seed}</b>{lines}</div>"
    return _page(title, f'<h1>{title}</h1><div class="small">{solved}</div>')


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><body>{body}</body></html>"
    )


def _sheet(ffn: SmallFfn) -> str:
    steps = "".join(
        f"<h2>{step.equation}</h2>"
        + f'<div class="given">{"".join(map(_table, step.tables))}</div>'
        + "".join(f'<p class="gap">{gap.name} = <i></i></p>' for gap in step.gaps)
        for step in steps_of(ffn)
    )
    return (
        f'<section><span class="name">Name: ____________________</span><h1>An FFN by hand</h1>'
        f"<p>Exercise {ffn.seed}. d_model = 2, d_ff = 3, φ = ReLU. To check it: page Exercises, "
        f"By hand, seed {ffn.seed}.</p>{steps}</section>"
    )


def _table(given: Table) -> str:
    lines = ("".join(f"<td>{entry}</td>" for entry in line) for line in given.rows)
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{given.name}</caption>{rows}</table>"


Y, T, W2, Z, X = range(5)  # the tables, in the order in which the steps give them


@dataclass(frozen=True, eq=False)
class Backward:
    """The gradients of one exercise."""

    ffn: SmallFfn  # the small FFN, whose forward pass is given
    target: Ints  # t, what y should have been, (d_model,)

    @property
    def at_y(self) -> Ints:
        """∂L/∂y, (d_model,)."""
        return self.ffn.y - self.target

    @property
    def at_h(self) -> Ints:
        """∂L/∂h, (d_ff,)."""
        return self.at_y @ self.ffn.w2.T

    @property
    def at_z(self) -> Ints:
        """∂L/∂z, (d_ff,)."""
        return np.where(self.ffn.z > 0, self.at_h, 0)

    @property
    def at_w1(self) -> Ints:
        """∂L/∂W₁, (d_model, d_ff)."""
        return np.outer(self.ffn.x, self.at_z)


def backward(ffn: SmallFfn) -> Backward:
    """The exercise of an FFN: the first random target at which no hidden gradient is 0.

    y misses it by 1 to 3 in each component.
    """
    rng = np.random.default_rng((ffn.seed, 1))
    while True:
        off = rng.integers(1, by_hand.LARGEST + 1, D_MODEL) * rng.choice([-1, 1], D_MODEL)
        exercise = Backward(ffn, ffn.y - off)
        if exercise.at_h.all():
            return exercise


def blanks_back(exercise: Backward) -> list[Blank]:
    """The numbers to fill in: ∂L/∂y, ∂L/∂h and ∂L/∂z as dy, dh and dz, and dW₁'s first row."""
    at_y = [_at_y(exercise, k) for k in range(D_MODEL)]
    at_h = [_at_h(exercise, j) for j in range(D_FF)]
    at_z = [_at_z(exercise, j) for j in range(D_FF)]
    at_w1 = [_at_w1(exercise, j) for j in range(D_FF)]
    return [by_hand.distinct(blank) for blank in (*at_y, *at_h, *at_z, *at_w1)]


def _at_y(exercise: Backward, k: int) -> Blank:
    y, t = int(exercise.ffn.y[k]), int(exercise.target[k])
    slips = (
        Slip("sign", t - y, f"Sign: it is y{SIGNS[k]} − t{SIGNS[k]}, not the other way round."),
        Slip("sign", y + t, f"Sign: t{SIGNS[k]} is taken away, not added."),
    )
    return Blank(f"dy{SIGNS[k]}", y - t, slips, uses=((Y, None, k), (T, None, k)))


def _at_h(exercise: Backward, j: int) -> Blank:
    weights, other = exercise.ffn.w2[j], (j + 1) % D_FF
    right = int(exercise.at_h[j])
    slips = by_hand.sign_slips(by_hand.pairs(exercise.at_y, weights), right)
    message = f"Row: h{SIGNS[j]} reaches y by row {j + 1} of W₂, not row {other + 1}."
    slips.append(Slip("row", int(exercise.at_h[other]), message))
    reads = tuple((k, float(weights[k])) for k in range(D_MODEL))
    return Blank(f"dh{SIGNS[j]}", right, tuple(slips), reads=reads, uses=((W2, j, None),))


def _at_z(exercise: Backward, j: int) -> Blank:
    z, wrong = f"z{SIGNS[j]}", int(exercise.at_h[j])
    reads: tuple[tuple[int, float], ...] = ()
    message = f"φ: {z} is below 0, where ReLU is flat: nothing comes through."
    if exercise.ffn.z[j] > 0:
        wrong, reads = 0, ((D_MODEL + j, 1.0),)
        message = f"φ: {z} is above 0, where ReLU has the slope 1: all comes through."
    slips, uses = (Slip("φ", wrong, message),), ((Z, None, j),)
    return Blank(f"d{z}", int(exercise.at_z[j]), slips, reads=reads, uses=uses)


def _at_w1(exercise: Backward, j: int) -> Blank:
    first, other = map(int, exercise.ffn.x)
    gradient, z = int(exercise.at_z[j]), D_MODEL + D_FF + j
    row_of_x = "Row: the first row of W₁ is multiplied by x₁, not by x₂."
    slips = (
        Slip("column", other * gradient, row_of_x),
        Slip("sign", -first * gradient, f"Sign: {written(first)} · {by_hand.bracketed(gradient)}."),
        Slip("terms", gradient, "The gradient of z must still be multiplied by x₁."),
    )
    reads, uses = ((z, float(first)),), ((X, None, 0),)
    return Blank(f"dw₁{SIGNS[j]}", first * gradient, slips, reads=reads, uses=uses)


TASK = choice_setting(
    "hand_view",
    {"numbers": "Small numbers", "back": "One step back", "xor": "XOR", "yours": "Now yours"},
).with_control("Exercise")
LAST_SEED = 9_999
SEED = count_setting("hand_seed", 1, 0, LAST_SEED).with_control("Seed")
SHEETS = count_setting("sheets", 1, 1, 60).with_control(
    "Sheets to print", help="Each with the next seed, so that no two students have the same."
)
PHI = choice_setting("xor_phi", {"relu": "ReLU", "none": "none"})


def _weights(text: str) -> tuple[float, ...]:
    """Nine numbers between underscores; zeros if the text is anything else."""
    try:
        nine = tuple(min(MOST, max(-MOST, float(each))) for each in text.split("_"))
    except ValueError:
        return NONE
    return nine if len(nine) == WEIGHTS and all(each == each for each in nine) else NONE


NONE = (0.0,) * WEIGHTS
XOR: Setting[Sequence[float]] = Setting(
    "xor", NONE, _weights, lambda nine: "_".join(f"{each:.6g}" for each in nine)
)
SETTINGS = (TASK, SEED, SHEETS, TYPED, XOR, PHI)


def sheet(run: Run, values: Values) -> Sheet:
    """The exercise that was chosen."""
    if values[TASK] == "xor":
        return Sheet([row(xor(values))], [TASK])
    if values[TASK] == "yours":
        return Sheet([row(of_a_neuron(run, values))], [TASK, *which_neuron(run)])
    if values[TASK] == "back":
        return Sheet([row(one_step_back(values))], [TASK, SEED])
    first, n = values[SEED], values[SHEETS]
    seeds = range(first, first + n)
    named = f"{first}" if n == 1 else f"{first}-{first + n - 1}"
    controls: list[Control] = [
        TASK,
        SEED,
        SHEETS,
        Download("Worksheet (A4)", f"ffn-by-hand-{named}.html", "text/html", worksheets(seeds)),
        Download("Solutions", f"ffn-by-hand-{named}-solutions.html", "text/html", solutions(seeds)),
    ]
    return Sheet([row(of_small_numbers(values))], controls)


def of_small_numbers(values: Values) -> Cell:
    """d_model 2, d_ff 3, and whole numbers that follow from the seed."""
    ffn = small_ffn(values[SEED])
    sentence = (
        f"Exercise {number(str(ffn.seed))}: d_model 2, d_ff 3, φ is ReLU. Fill in z, h and y."
    )
    head = Head(sentence, "by-hand", "relu")
    name = name_of("numbers", ffn.seed)
    return _to_fill_in(head, name, steps_of(ffn), values, another_seed(values))


def steps_of(ffn: SmallFfn) -> list[Step]:
    """The three equations, with what is given for each."""
    gaps = list(map(gap_of, by_hand.blanks(ffn)))
    x, w1, b1 = table("x", ffn.x), table("W₁", ffn.w1), table("b₁", ffn.b1)
    w2, b2 = table("W₂", ffn.w2), table("b₂", ffn.b2)
    return [
        Step("z = x W₁ + b₁", [x, w1, b1], gaps[:3]),
        Step("h = ReLU(z)", [], gaps[3:6]),
        Step("y = h W₂ + b₂", [w2, b2], gaps[6:]),
    ]


def table(name: str, given: Ints) -> Table:
    """A matrix as written, or a vector as its one row."""
    return Table(name, [[written(int(value)) for value in line] for line in np.atleast_2d(given)])


def one_step_back(values: Values) -> Cell:
    """The gradients of the same small FFN: the chain rule from y to W₁."""
    ffn = small_ffn(values[SEED])
    exercise = backward(ffn)
    gaps = list(map(gap_of, blanks_back(exercise)))
    steps = [
        Step("dy = y − t", [table("y", ffn.y), table("t", exercise.target)], gaps[:2]),
        Step("dh = dy W₂ᵀ", [table("W₂", ffn.w2)], gaps[2:5]),
        Step("dz = dh · ReLU′(z)", [table("z", ffn.z)], gaps[5:8]),
        Step("dW₁ = xᵀ dz, row 1", [table("x", ffn.x)], gaps[8:]),
    ]
    sentence = (
        f"Exercise {number(str(ffn.seed))}: y should have been t. How does the loss L = ½ ‖y − t‖² "
        "change with each number?"
    )
    under = (
        "dy is short for ∂L/∂y, the gradient of L: how much L changes when y moves a little. "
        f"Neuron {int(ffn.z.argmin()) + 1} is inactive: what does it learn?"
    )
    head = Head(sentence, "by-hand-back", "relu", under=under)
    return _to_fill_in(head, name_of("back", ffn.seed), steps, values, another_seed(values))


def another_seed(values: Values) -> Set:
    """The next exercise of the same kind."""
    return set_to(SEED, (values[SEED] + 1) % (LAST_SEED + 1))


def gap_of(blank: Blank) -> Gap:
    """A blank as the picture has it."""
    slips = [(slip.value, slip.message) for slip in blank.slips]
    given = blank.tolerance, blank.reads, blank.plus, blank.relu, blank.uses
    return Gap(blank.name, blank.right, slips, *given)


def xor(values: Values) -> Cell:
    """Weights to choose."""
    sentence = f"Choose weights so that y is {number('1')} where exactly one of a and b is 1."
    head = Head(sentence, "by-hand-xor", "relu")
    return xor_cell(
        "xor",
        head,
        values[XOR],
        values[PHI] == "relu",
        lambda nine: set_to(XOR, tuple(nine)),
        lambda on: set_to(PHI, "relu" if on else "none"),
    )


def which_neuron(run: Run) -> list[Control]:
    """The choice of a neuron: by its number, or the one with the largest or the smallest z."""
    z = run.trace.blocks[run.state.block].ffn.pre_activation[run.token]
    at, ends = neuron_shown(run), [int(z.argmax()), int(z.argmin())]

    def choose(neuron: int) -> ChooseNeuron:
        return ChooseNeuron(run.neuron(neuron))

    chosen = ends.index(at) if at in ends else None
    named = ["largest", "furthest below 0"]
    return [
        NumberBox("Neuron", at, 0, run.model.sizes.d_ff - 1, choose),
        Choice("or one with z", named, lambda place: choose(ends[place]), chosen),
    ]


def of_a_neuron(run: Run, values: Values) -> Cell:
    """The chosen neuron, or the strongest, on the chosen token."""
    block, which = run.state.block, neuron_shown(run)
    neuron = by_hand.real_neuron(run.model, run.trace, block, run.token, which)
    exercise = name_of(run.stamp, run.token, which)
    sentence = (
        f"Neuron {block + 1}:{which} on {quoted(run.labels[run.token])}: "
        f"{run.model.sizes.d_model} terms, the eight largest and the rest. φ is {neuron.phi}."
    )
    head = Head(sentence, "by-hand-neuron", run.card.colour)
    return _to_fill_in(head, exercise, steps_of_neuron(neuron), values)


def _to_fill_in(
    head: Head, exercise: str, steps: list[Step], values: Values, another: Set | None = None
) -> Cell:
    given = answers(values[TYPED], exercise)

    def answer(texts: list[str]) -> Set:
        return set_to(TYPED, (exercise, *map(plain, texts)))

    return by_hand_cell("by-hand", head, exercise, steps, given, answer, another)


def steps_of_neuron(neuron: by_hand.RealNeuron) -> list[Step]:
    """The sum, φ, and what is written, with what is given for each."""
    product, z, h, y = map(gap_of, by_hand.blanks_of(neuron))
    digits = neuron.digits

    def said(value: float) -> str:
        return written(value, digits)

    factors = zip(neuron.entries, neuron.x, neuron.key, neuron.products, strict=True)
    terms: list[Sequence[str]] = [
        [str(entry), said(x), said(w), said(p) if at else "?"]
        for at, (entry, x, w, p) in enumerate(factors)
    ]
    terms += [["the rest", "", "", said(neuron.rest)], ["b", "", "", said(neuron.bias)]]
    gate = [Table("factor by which φ(z) is multiplied", [[said(neuron.gate)]])]
    written_by = [["v", said(neuron.value)], ["others and b₂", said(neuron.others)]]
    return [
        Step("z = Σ x · w + b", [Table("", terms, ("entry", "x", "w", "x · w"))], [product, z]),
        Step("h = φ(z)", gate if neuron.gate != 1 else [], [h]),
        Step("y = h · v + others", [Table(f"entry {neuron.entry}", written_by)], [y]),
    ]
