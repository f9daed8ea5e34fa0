"""The activation zoo: curves, slopes, gates."""

import streamlit as st

from ffnviz.analysis.lab.zoo import Zoo, visit_zoo
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.figures.lab.zoo import curves, surface
from ffnviz.figures.wording import Sentence, number, signed
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.numbers import short
from ffnviz.page import Navigator, live
from ffnviz.pages.lab.subject import kept, show_verdicts, tally
from ffnviz.run import Run
from ffnviz.settings import choice_setting

GATES = {name: each.label for name, each in ACTIVATIONS.items() if each.gated}
GATE = choice_setting("gate", GATES)
SETTINGS = (GATE,)
LOOKS = {"relu": ("@relu", "solid"), "gelu": ("@gelu", "solid"), "gelu_tanh": ("@text", "dot"),
         "silu": ("@positive_mid", "dash"), "sigmoid": ("@negative_mid", "dash"),
         "tanh": ("@negative_mid", "solid"), "identity": ("@muted", "dashdot")}  # fmt: skip


@live
def render(run: Run, navigator: Navigator) -> None:
    """The verdicts and parameters, the curves, and a gate."""
    found = kept(run, "zoo", visit_zoo)
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
        one_gate(run, found, str(gate))


def all_curves(run: Run, found: Zoo) -> None:
    """φ and φ′ of all plain ones."""
    at, least = found.minimum
    sentence: Sentence = [
        "GELU is least at ", number(f"x = {signed(at)}"), ": ",
        number(f"{least:.4f}".replace("-", "−")), "; its tanh formula is off by at most ",
        number(short(found.apart[0])), ".",
    ]  # fmt: skip
    shown = [
        (ACTIVATIONS[c.name].label, c.value, c.slope, *LOOKS.get(c.name, ("@line", "solid")))
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


def one_gate(run: Run, found: Zoo, gate: str) -> None:
    """φ(g)·v as a surface."""
    label = ACTIVATIONS[gate].label
    d_ff, count = found.parameters[gate]
    sentence: Sentence = [
        f"{label} multiplies two projections: φ(g)·v. With ", number(f"d_ff = {d_ff:,}"),
        " it has ", number(f"{count:,} parameters"), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-gate", run.card.colour),
        surface(found.axis, found.gated[gate], label),
        f"{label} as a surface over gate and value.",
        f"{run.stamp} {gate}",
        key="lab-gate",
        height=560,
    )


def parameters(run: Run, found: Zoo) -> None:
    """Gated and plain at equal parameters."""
    d_model = run.model.sizes.d_model
    rows = "".join(
        f"| {ACTIVATIONS[name].label} | {d_ff:,} | {count:,} |\n"
        for name, (d_ff, count) in found.parameters.items()
    )
    st.markdown(
        f"At d_model = {d_model:,}, a gate has a third matrix and so d_ff × 2/3:\n\n"
        f"| FFN | d_ff | parameters |\n|---|---|---|\n{rows}"
    )
