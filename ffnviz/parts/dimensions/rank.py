"""Why expand: in how many directions the tokens differ, before φ and after."""

import streamlit as st

from ffnviz.analysis.dimensions.rank import STAGES, Spectrum, out_of_reach, reach, spectra
from ffnviz.figures.dimensions import rank as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.models.card import Card
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """The singular values beside the effective ranks."""
    found = {traced.card: spectra(traced.trace, run.block_of(traced)) for traced in run.both}
    left, right = st.columns([1.25, 1], gap="medium")
    with left:
        singular_values(run, found[run.card])
    with right:
        effective_ranks(run, found)


def singular_values(run: Run, found: dict[str, Spectrum]) -> None:
    """The network's spectra, with what φ alone adds."""
    block = run.state.block
    reached = run.subject.per_network(f"reach of block {block}", lambda: reach(run.model, block))
    outside = out_of_reach(reached, run.trace, block)
    config = run.model.sizes
    sentence: Sentence = [
        f"W₁ can reach only {config.d_model + 1:,} of {config.d_ff:,} directions. Outside them ",
        "lies ",
        number(f"{outside.before:.1%}"), " of the squared length before φ, and ",
        number(percent(outside.after)), " after it.",
    ]  # fmt: skip
    chart(
        Head(sentence, "spectra", run.card.colour),
        figures.spectra({stage: found[stage].singular_values for stage in STAGES}, run.card.colour),
        "Singular values of this sentence's FFN inputs, pre-activations, hidden values, outputs.",
        run.stamp,
        key="spectra",
        height=680,
    )


def effective_ranks(run: Run, found: dict[Card, dict[str, Spectrum]]) -> None:
    """Each network's effective ranks at every stage."""
    before, after = (found[run.card][stage].effective_rank for stage in STAGES[1:3])
    verb = "raises" if after > before else "lowers"
    sentence: Sentence = [
        f"On these {len(run.labels)} tokens {run.card.label} {verb} the "
        "effective rank from ", number(f"{before:.1f}"), " to ", number(f"{after:.1f}"), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "rank", run.card.colour),
        figures.effective_ranks(
            {
                traced: [at[stage].effective_rank for stage in STAGES]
                for traced, at in found.items()
            },
            STAGES,
        ),
        "The effective rank at the input, before φ, after φ and at the output, of each network.",
        run.stamp,
        key="rank",
        height=680,
    )
