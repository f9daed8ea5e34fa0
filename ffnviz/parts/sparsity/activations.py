"""All activation functions: their curves and slopes, and the gated ones as surfaces."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.lab.experiment import Finding
from ffnviz.analysis.lab.gate import through_gate
from ffnviz.analysis.lab.zoo import Zoo, visit_zoo
from ffnviz.analysis.number_format import short
from ffnviz.figures.lab.zoo import curves
from ffnviz.figures.lab.zoo import surface as surface_of
from ffnviz.figures.wording import Sentence, number, percent, quoted, signed
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.experiments import cached_result, experiment_subject, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.table import table_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting

GATES = {name: each.label for name, each in ACTIVATIONS.items() if each.gated}
# ReGLU if a link has none.
GATE = choice_setting("gate", {"reglu": GATES["reglu"], **GATES}).with_control("Gate")


def all_of_them(run: Run, values: Values) -> Sheet:  # noqa: ARG001
    """The curves of the plain ones over the verdicts on them."""
    zoo = cached_result(run, "zoo", visit_zoo)
    return Sheet([row(all_curves(run, zoo)), row(claims(run, zoo.findings[1:]))])


def gated(run: Run, values: Values) -> Sheet:
    """What a gate does to the chosen token beside what a gated FFN costs."""
    zoo, gate = cached_result(run, "zoo", visit_zoo), values[GATE]
    costs = [claims(run, zoo.findings[:1]), parameters(run, zoo)]  # the first is about gated FFNs
    return Sheet([row(one_gate(run, gate, zoo.gated[gate], zoo.axis), costs, widths=(1.2, 1))])


def claims(run: Run, findings: Sequence[Finding]) -> Cell:
    """The verdicts of some of the experiment's findings."""
    return verdicts_of(run, "lab-zoo", findings)


def all_curves(run: Run, zoo: Zoo) -> Cell:
    """φ and φ′ of all plain ones."""
    at, least = zoo.minimum
    sentence: Sentence = [
        f"GELU has its minimum at x = {signed(at)}: ", number(f"{least:.4f}".replace("-", "−")),
        f"; its tanh formula is off by at most {short(zoo.apart[0])}.",
    ]  # fmt: skip
    lines = [
        (ACTIVATIONS[c.name].label, c.value, c.slope, *ACTIVATIONS[c.name].line) for c in zoo.curves
    ]
    return chart_cell(
        Head(sentence, "lab-curves", run.card.colour),
        curves(zoo.x, lines, zoo.minimum),
        "Every plain activation's curve, and its slope below.",
        height=566,
    )


def one_gate(run: Run, gate: str, surface: NDArray[np.float64], axis: NDArray[np.float64]) -> Cell:
    """φ(g)·v as a surface, with the chosen token's own pairs of g and v on it."""
    name = ("gate", gate, run.state.block, run.token)
    result = run.subject.per_sentence(name, lambda: through_gate(experiment_subject(run), gate))
    label = ACTIVATIONS[gate].label
    sentence: Sentence = [
        f"Of the {len(result.gate):,} gates of an untrained {label}, ",
        number(percent(result.closed)), " are closed (exactly 0) at ",
        quoted(run.labels[run.token]), f", and {percent(result.turned)} flip their value's sign.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "lab-gate", run.card.colour),
        surface_of(axis, surface, label, (result.gate, result.value)),
        f"{label} as a surface over gate and value, with the chosen token's units as points.",
        height=516,
    )


def parameters(run: Run, zoo: Zoo) -> Cell:
    """Gated and plain at equal parameters."""
    d_model = run.model.sizes.d_model
    of_size: dict[tuple[int, int], list[str]] = {}
    for name, size in zoo.parameters.items():
        of_size.setdefault(size, []).append(ACTIVATIONS[name].label)
    rows = [
        (", ".join(labels), f"{d_ff:,}", f"{count:,}") for (d_ff, count), labels in of_size.items()
    ]
    why = f"A gate needs a third matrix, so at d_model = {d_model:,} its d_ff is cut to 2/3:"
    return table_cell("lab-parameters", Head([why], "", run.card.colour),
                      ["FFN", "d_ff", "parameters"], rows)  # fmt: skip
