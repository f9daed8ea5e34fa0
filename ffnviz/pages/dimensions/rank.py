"""Why expand: in how many directions the tokens differ, before φ and after."""

import streamlit as st

from ffnviz.analysis.rank import STAGES, Spectrum, out_of_reach, reach, spectra
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.figures import rank as figures
from ffnviz.figures.style import palettes
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.page import Choices
from ffnviz.run import Run


def render(run: Run, choices: Choices) -> None:  # noqa: ARG001
    """The singular values beside the effective ranks."""
    found = {twin: spectra(trace, run.request.block) for twin, trace in run.traces.items()}
    left, right = st.columns([1.25, 1], gap="medium")
    with left:
        singular_values(run, found[run.request.twin])
    with right:
        effective_ranks(run, found)


def singular_values(run: Run, found: dict[str, Spectrum]) -> None:
    """The chosen twin's spectra, with what φ alone adds."""
    twin = run.request.twin
    block = run.request.block
    reached = run.once(f"reach of block {block}", lambda: reach(run.model, block))
    outside = out_of_reach(reached, run.trace, block)
    config = run.model.encoder.config
    sentence: Sentence = [
        f"What W₁ can make lies in {config.d_model + 1:,} of {config.d_ff:,} directions. Before φ ",
        number(f"{outside.before:.1%}"), " of the squared length is outside them; after φ ",
        number(percent(outside.after)), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "spectra", twin),
        figures.spectra({stage: found[stage].singular_values for stage in STAGES}, twin),
        "Singular values of this sentence's FFN inputs, pre-activations, hidden values, outputs.",
        palettes(),
        run.stamp,
        key="spectra",
        height=680,
    )


def effective_ranks(run: Run, found: dict[str, dict[str, Spectrum]]) -> None:
    """Both twins' effective ranks at every stage."""
    before, after = (found[run.request.twin][stage].effective_rank for stage in STAGES[1:3])
    verb = "raises" if after > before else "lowers"
    sentence: Sentence = [
        f"On these {len(run.labels)} tokens {ACTIVATIONS[run.request.twin].label} {verb} the "
        "effective rank from ", number(f"{before:.1f}"), " to ", number(f"{after:.1f}"), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "rank", run.request.twin),
        figures.effective_ranks(
            {twin: [of[stage].effective_rank for stage in STAGES] for twin, of in found.items()},
            STAGES,
            {twin: ACTIVATIONS[twin].label for twin in found},
        ),
        "The effective rank at the input, before φ, after φ and at the output, both twins.",
        palettes(),
        run.stamp,
        key="rank",
        height=680,
    )
