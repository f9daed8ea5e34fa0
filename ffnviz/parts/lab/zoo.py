"""The activation zoo: curves, slopes, gates."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ffnviz.analysis.lab.gate import through_gate
from ffnviz.analysis.lab.zoo import Zoo, visit_zoo
from ffnviz.analysis.number_format import short
from ffnviz.figures.lab.zoo import curves
from ffnviz.figures.lab.zoo import surface as surface_of
from ffnviz.figures.wording import Sentence, number, percent, quoted, signed
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.lab.subject import cached_result, experiment_subject, show_verdicts, tally
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import choice_setting

GATES = {name: each.label for name, each in ACTIVATIONS.items() if each.gated}
GATE = choice_setting("gate", {"reglu": GATES["reglu"], **GATES})  # links without one mean ReGLU
SETTINGS = (GATE,)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The verdicts and parameters, the curves, and a gate."""
    found = cached_result(run, "zoo", visit_zoo)
    left, middle, right = st.columns([0.9, 1.2, 1], gap="medium")
    with left:
        show_verdicts(
            run, Head(tally(found.findings), "lab-zoo", run.card.colour), found.findings, ""
        )
        parameters(run, found)
    with middle:
        all_curves(run, found)
    with right:
        gate = st.segmented_control("Gate", required=True, label_visibility="collapsed",
                                    **navigator.options(GATE))  # fmt: skip
        one_gate(run, str(gate), found.gated[str(gate)], found.axis)


def all_curves(run: Run, found: Zoo) -> None:
    """φ and φ′ of all plain ones."""
    at, least = found.minimum
    sentence: Sentence = [
        "GELU is least at ", number(f"x = {signed(at)}"), ": ",
        number(f"{least:.4f}".replace("-", "−")), "; its tanh formula is off by at most ",
        number(short(found.apart[0])), ".",
    ]  # fmt: skip
    shown = [
        (ACTIVATIONS[c.name].label, c.value, c.slope, *ACTIVATIONS[c.name].line)
        for c in found.curves
    ]
    chart(
        Head(sentence, "lab-curves", run.card.colour),
        curves(found.x, shown, found.minimum),
        "Every plain activation's curve, and its slope below.",
        run.stamp,
        key="lab-curves",
        height=680,
    )


def one_gate(run: Run, gate: str, surface: NDArray[np.float64], axis: NDArray[np.float64]) -> None:
    """φ(g)·v as a surface, with the chosen token's own pairs of g and v on it."""
    name = ("gate", gate, run.state.block, run.token)
    found = run.subject.per_sentence(name, lambda: through_gate(experiment_subject(run), gate))
    label = ACTIVATIONS[gate].label
    sentence: Sentence = [
        f"An untrained {label} at ", quoted(run.labels[run.token]), ": of its ",
        number(f"{len(found.gate):,} gates"), ", ", number(percent(found.closed)),
        " are closed (exactly 0), and ", number(percent(found.turned)),
        " turn their value's sign.",
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-gate", run.card.colour),
        surface_of(axis, surface, label, (found.gate, found.value)),
        f"{label} as a surface over gate and value, with the chosen token's units as points.",
        f"{run.stamp} {gate}",
        key="lab-gate",
        height=560,
    )


def parameters(run: Run, found: Zoo) -> None:
    """Gated and plain at equal parameters."""
    d_model = run.model.sizes.d_model
    alike: dict[tuple[int, int], list[str]] = {}
    for name, sizes in found.parameters.items():
        alike.setdefault(sizes, []).append(ACTIVATIONS[name].label)
    rows = "".join(
        f"| {', '.join(labels)} | {d_ff:,} | {count:,} |\n"
        for (d_ff, count), labels in alike.items()
    )
    st.markdown(
        f"At d_model = {d_model:,}, a gate has a third matrix and so d_ff × 2/3:\n\n"
        f"| FFN | d_ff | parameters |\n|---|---|---|\n{rows}"
    )
