"""All activation functions: their curves and slopes, and the gated ones as surfaces."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.lab.experiment import Finding
from ffnviz.analysis.lab.zoo import Zoo, through_gate, visit_zoo
from ffnviz.analysis.number_format import short
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.experiments import cached_result, experiment_subject, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, Trace, axis, figure, line_trace
from ffnviz.pictures.text import table_cell
from ffnviz.pictures.wording import Sentence, number, percent, quoted, signed
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting

Curve = tuple[str, Array, Array, str, str]


def curves_figure(x: Array, shown: Sequence[Curve], minimum: tuple[float, float]) -> Figure:
    """φ above, φ′ below.

    Args:
        x: (n,).
        shown: label, φ(x), φ′(x), colour and dash of each.
        minimum: where GELU is least, and its value.
    """
    traces: list[Trace] = []
    for label, value, slope, colour, dash in shown:
        traces += [
            line_trace(label, x, value, colour, 3, dash, legendgroup=label),
            line_trace(f"{label}, slope", x, slope, colour, 3, dash, yaxis="y2",
                       legendgroup=label, showlegend=False),
        ]  # fmt: skip
    at, least = minimum
    return figure(
        traces,
        axis("x", anchor="y2", range=[-4, 4]),
        axis("φ(x)", domain=[0.46, 1], range=[-1.1, 3.2]),
        yaxis2=axis("slope φ′(x)", domain=[0, 0.38], range=[-0.25, 1.25]),
        annotations=[{
            "x": at, "y": least, "xref": "x", "yref": "y", "ax": -60, "ay": -70,
            "text": f"GELU's minimum<br>{least:.4f} at {at:.4f}".replace("-", "−"),
            "showarrow": True, "arrowcolor": "@text", "font": {"size": 16},
        }],
        margin={"l": 70, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip


def surface_figure(side: Array, values: Array, label: str, points: tuple[Array, Array]) -> Figure:
    """A gate's φ(g)·v over g and v, on the signed scale.

    Args:
        side: the values of g and of v, (n,).
        values: φ(g)·v, a row a v, (n, n).
        label: of the gated φ.
        points: g and v of the units of one token, (d_ff,) each; what lies outside is not drawn.
    """
    largest = float(np.abs(values).max())
    reach = [float(side[0]), float(side[-1])]
    return figure(
        [
            {"type": "heatmap", "name": label, "x": side, "y": side, "z": values,
             "zmin": -largest, "zmax": largest,
             "colorscale": [[0, "@negative"], [0.25, "@negative_mid"], [0.5, "@background"],
                            [0.75, "@positive_mid"], [1, "@positive"]],
             "colorbar": {"title": {"text": "φ(g)·v", "side": "top"}, "thickness": 14},
             "hovertemplate": "g = %{x:.1f}, v = %{y:.1f}: %{z:.2f}<extra></extra>"},
            {"type": "scatter", "mode": "markers", "name": "its units", "x": points[0],
             "y": points[1], "marker": {"color": "@text/0.55", "size": 3.5}, "hoverinfo": "skip"},
        ],
        axis("gate g", range=reach), axis("value v", range=reach),
        margin={"l": 64, "r": 10, "t": 16, "b": 56}, showlegend=False,
    )  # fmt: skip


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
        curves_figure(zoo.x, lines, zoo.minimum),
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
        surface_figure(axis, surface, label, (result.gate, result.value)),
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
