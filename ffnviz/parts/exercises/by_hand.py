"""An FFN by hand: small numbers forward and back, XOR, and one neuron of the typed sentence."""

from collections.abc import Sequence

from ffnviz.analysis.exercises.backward import Backward, backward, blanks_back
from ffnviz.analysis.exercises.blank import Blank, written
from ffnviz.analysis.exercises.by_hand import SmallFfn, blanks, small_ffn
from ffnviz.analysis.exercises.real_neuron import RealNeuron, blanks_of, real_neuron
from ffnviz.figures.wording import number, quoted
from ffnviz.parts.exercises.typed import TYPED, answers, name_of, plain
from ffnviz.parts.exercises.worksheet import NAMES, STEPS, entries, solutions, worksheets
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.sheet import Choice, Control, Download, NumberBox, Sheet, row, set_to
from ffnviz.pictures.by_hand import Gap, Step, Table, by_hand_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.xor_net import MOST, WEIGHTS, xor_cell
from ffnviz.state.actions import ChooseNeuron, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting

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
        TASK, SEED, SHEETS,
        Download("Worksheet (A4)", f"ffn-by-hand-{named}.html", "text/html", worksheets(seeds)),
        Download("Solutions", f"ffn-by-hand-{named}-solutions.html", "text/html",
                 solutions(seeds)),
    ]  # fmt: skip
    return Sheet([row(of_small_numbers(values))], controls)


def of_small_numbers(values: Values) -> Cell:
    """d_model 2, d_ff 3, and whole numbers that follow from the seed."""
    ffn = small_ffn(values[SEED])
    exercise = name_of("numbers", ffn.seed)
    head = Head(
        ["Exercise ", number(str(ffn.seed)), ": d_model 2, d_ff 3, φ is ReLU. Fill in z, h and y."],
        "by-hand", "relu",
    )  # fmt: skip
    return _to_fill_in(head, exercise, steps_of(ffn), values, another_seed(values))


def steps_of(ffn: SmallFfn) -> list[Step]:
    """The three equations, with what is given for each."""
    gaps = list(map(gap_of, blanks(ffn)))
    return [
        Step(equation, [Table(NAMES[n], entries(getattr(ffn, n))) for n in given], gaps[which])
        for equation, given, which in STEPS
    ]


def one_step_back(values: Values) -> Cell:
    """The gradients of the same small FFN."""
    exercise = backward(small_ffn(values[SEED]))
    seed = exercise.ffn.seed
    inactive = int(exercise.ffn.z.argmin()) + 1
    head = Head(
        ["Exercise ", number(str(seed)), ": y should have been t. How does the loss "
         "L = ½ ‖y − t‖² change with each number?"],
        "by-hand-back", "relu",
        under=[f"dy is short for ∂L/∂y. Neuron {inactive} is inactive: what does it learn?"],
    )  # fmt: skip
    return _to_fill_in(
        head, name_of("back", seed), steps_back(exercise), values, another_seed(values)
    )


def another_seed(values: Values) -> Set:
    """The next exercise of the same kind."""
    return set_to(SEED, (values[SEED] + 1) % (LAST_SEED + 1))


def steps_back(exercise: Backward) -> list[Step]:
    """The chain rule from y to W₁, with what is given for each step."""
    ffn = exercise.ffn
    named = {"y": ffn.y, "t": exercise.target, "W₂": ffn.w2, "z": ffn.z, "x": ffn.x}
    given = {name: Table(name, entries(values)) for name, values in named.items()}
    gaps = list(map(gap_of, blanks_back(exercise)))
    return [
        Step("dy = y − t", [given["y"], given["t"]], gaps[:2]),
        Step("dh = dy W₂ᵀ", [given["W₂"]], gaps[2:5]),
        Step("dz = dh · ReLU′(z)", [given["z"]], gaps[5:8]),
        Step("dW₁ = xᵀ dz, row 1", [given["x"]], gaps[8:]),
    ]


def gap_of(blank: Blank) -> Gap:
    """A blank as the picture has it."""
    slips = [(slip.value, slip.message) for slip in blank.slips]
    return Gap(blank.name, blank.right, slips, blank.tolerance, blank.reads, blank.plus, blank.relu,
               blank.uses)  # fmt: skip


def xor(values: Values) -> Cell:
    """Weights to choose."""
    head = Head(
        ["Choose weights so that y is ", number("1"), " where exactly one of a and b is 1."],
        "by-hand-xor", "relu",
    )  # fmt: skip
    return xor_cell(
        "xor", head, values[XOR], values[PHI] == "relu",
        lambda nine: set_to(XOR, tuple(nine)),
        lambda on: set_to(PHI, "relu" if on else "none"),
    )  # fmt: skip


def which_neuron(run: Run) -> list[Control]:
    """The choice of a neuron: by its number, or the one with the largest or the smallest z."""
    z = run.trace.blocks[run.state.block].ffn.pre_activation[run.token]
    at, ends = neuron_shown(run), [int(z.argmax()), int(z.argmin())]

    def choose(neuron: int) -> ChooseNeuron:
        return ChooseNeuron(run.neuron(neuron))

    return [
        NumberBox("Neuron", at, 0, run.model.sizes.d_ff - 1, choose),
        Choice("or one with z", ["largest", "furthest below 0"], lambda place: choose(ends[place]),
               ends.index(at) if at in ends else None),
    ]  # fmt: skip


def of_a_neuron(run: Run, values: Values) -> Cell:
    """The chosen neuron, or the strongest, on the chosen token."""
    block, which = run.state.block, neuron_shown(run)
    neuron = real_neuron(run.model, run.trace, block, run.token, which)
    exercise = name_of(run.stamp, run.token, which)
    head = Head(
        [f"Neuron {block + 1}:{which} on ", quoted(run.labels[run.token]),
         f": {run.model.sizes.d_model} terms, the eight largest and the rest. φ is {neuron.phi}."],
        "by-hand-neuron", run.card.colour,
    )  # fmt: skip
    return _to_fill_in(head, exercise, steps_of_neuron(neuron), values)


def _to_fill_in(
    head: Head, exercise: str, steps: list[Step], values: Values, another: Set | None = None
) -> Cell:
    return by_hand_cell(
        "by-hand", head, exercise, steps, answers(values[TYPED], exercise),
        lambda texts: set_to(TYPED, (exercise, *map(plain, texts))), another,
    )  # fmt: skip


def steps_of_neuron(neuron: RealNeuron) -> list[Step]:
    """The sum, φ, and what is written, with what is given for each."""
    product, z, h, y = map(gap_of, blanks_of(neuron))
    digits = neuron.digits

    def said(value: float) -> str:
        return written(value, digits)

    terms: list[Sequence[str]] = [
        [str(entry), said(x), said(w), said(p) if at else "?"]
        for at, (entry, x, w, p) in enumerate(
            zip(neuron.entries, neuron.x, neuron.key, neuron.products, strict=True)
        )
    ]
    terms += [["the rest", "", "", said(neuron.rest)], ["b", "", "", said(neuron.bias)]]
    gate = [Table("value that φ(z) is multiplied with", [[said(neuron.gate)]])]
    return [
        Step("z = Σ x · w + b", [Table("", terms, ("entry", "x", "w", "x · w"))], [product, z]),
        Step("h = φ(z)", gate if neuron.gate != 1 else [], [h]),
        Step("y = h · v + others", [Table(f"entry {neuron.entry}", [
            ["v", said(neuron.value)], ["others and b₂", said(neuron.others)]])], [y]),
    ]  # fmt: skip
