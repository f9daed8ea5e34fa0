"""Never above zero: the neurons this sentence does not reach, and those no book reached."""

import streamlit as st

from ffnviz.analysis.sparsity.never import Reached, reached
from ffnviz.analysis.sparsity.record import record_of
from ffnviz.figures.sparsity import never as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

SHOWN = 40


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """The picture over the numbers of the neurons that no book reached."""
    block, here = run.state.block, run.card
    records = {traced.card: record_of(traced.network) for traced in run.both}
    found = {traced.card: reached(traced.trace, block) for traced in run.both}
    d_ff = run.model.sizes.d_ff
    asleep = {traced: record.final_never[block] for traced, record in records.items()}
    chart(
        Head(_sentence(run, found[here], len(asleep[here]), d_ff), "never", here.colour),
        figures.reached(
            {traced: each.shares for traced, each in found.items()},
            {traced: 1 - len(units) / d_ff for traced, units in asleep.items()},
            run.labels,
        ),
        "The share of neurons above zero at least once, token after token, for each network.",
        run.stamp,
        key="never",
        height=560,
    )
    for traced, units in asleep.items():
        shown = ", ".join(map(str, units[:SHOWN])) or "none"
        more = f" and {len(units) - SHOWN:,} more" if len(units) > SHOWN else ""
        st.markdown(
            f"**{traced.label}, block {block + 1}, never above zero on "
            f"{records[traced].final_n_tokens:,} tokens of books it did not train on:** "
            f"{shown}{more}."
        )


def _sentence(run: Run, found: Reached, asleep: int, d_ff: int) -> Sentence:
    label, block = run.card.label, run.state.block + 1
    return [
        f"In block {block} of {label}, ",
        number(f"{len(found.never):,} of {d_ff:,} neurons ({percent(len(found.never) / d_ff)})"),
        " are above zero on no token of this sentence; on no token of whole books, ",
        number(f"{asleep:,} ({percent(asleep / d_ff)})"), ".",
    ]  # fmt: skip
