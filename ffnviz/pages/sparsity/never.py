"""Never awake: the neurons this sentence does not reach, and those that no book reached."""

import streamlit as st

from ffnviz.analysis.never import Reached, reached
from ffnviz.analysis.record import training_record
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.figures import never as figures
from ffnviz.figures.style import palettes
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.page import Choices
from ffnviz.run import Run

SHOWN = 40


def render(run: Run, choices: Choices) -> None:  # noqa: ARG001
    """The picture over the numbers of the neurons that no book reached."""
    block, twin = run.request.block, run.request.twin
    found = {twin: reached(trace, block) for twin, trace in run.traces.items()}
    d_ff = run.model.encoder.config.d_ff
    asleep = {twin: training_record(twin).final_never_active[block] for twin in found}
    chart(
        Head(_sentence(run, found[twin], len(asleep[twin]), d_ff), "never", twin),
        figures.reached(
            {twin: of.shares for twin, of in found.items()},
            {twin: 1 - len(units) / d_ff for twin, units in asleep.items()},
            {twin: ACTIVATIONS[twin].label for twin in found},
            run.labels,
        ),
        "The share of neurons above zero at least once, token after token, for both twins.",
        palettes(),
        run.stamp,
        key="never",
        height=560,
    )
    for twin, units in asleep.items():
        shown = ", ".join(map(str, units[:SHOWN])) or "none"
        more = f" and {len(units) - SHOWN:,} more" if len(units) > SHOWN else ""
        st.markdown(
            f"**{ACTIVATIONS[twin].label}, block {block + 1}, never above zero on "
            f"{training_record(twin).final_n_tokens:,} tokens of held-out books:** {shown}{more}."
        )


def _sentence(run: Run, found: Reached, asleep: int, d_ff: int) -> Sentence:
    label, block = ACTIVATIONS[run.request.twin].label, run.request.block + 1
    return [
        f"All {len(run.labels)} tokens together leave ",
        number(f"{len(found.never):,} of {d_ff:,} neurons ({percent(len(found.never) / d_ff)})"),
        f" of the {label} twin's block {block} never above zero; on the held-out books it was ",
        number(f"{asleep:,} ({percent(asleep / d_ff)})"), ".",
    ]  # fmt: skip
