"""Born in training: the record of how the twins became sparse."""

import streamlit as st

from ffnviz.analysis.sparsity.record import TrainingRecord, record_of
from ffnviz.figures.sparsity.birth import birth
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """Both networks' records in one picture."""
    records = {traced.card: record_of(traced.network) for traced in run.both}
    own = records[run.card]
    n_blocks = own.above_zero.shape[1]
    panels = [
        ("neurons above zero, share of all values", {
            (traced, block): 100 * record.above_zero[:, block]
            for traced, record in records.items() for block in range(n_blocks)
        }),
        ("neurons never above zero on these tokens", {
            (traced, block): 100 * record.never[:, block]
            for traced, record in records.items() for block in range(n_blocks)
        }),
    ]  # fmt: skip
    chart(
        Head(_sentence(own, run), "birth", run.card.colour),
        birth(
            own.tokens,
            panels,
            {traced: record.loss for traced, record in records.items()},
        ),
        "The share of activations above zero, of neurons that never are, and the loss, from the "
        "first step of training to the last, for each network.",
        run.stamp,
        key="birth",
        height=690,
    )
    st.markdown(
        "**The published shares** are of T5-Base and ViT-B/16 (Li et al. 2022, arXiv:2210.06313). "
        "Those networks differ in size, data and length of training; which of these makes them "
        "lower is not known here."
    )


def _sentence(record: TrainingRecord, run: Run) -> Sentence:
    block = run.state.block
    least = int(record.above_zero[:, block].argmin())
    told: Sentence = [
        f"Before training, {run.card.label}'s block {block + 1} had ",
        number(percent(record.above_zero[0, block])), " of its activations above zero, on ",
        f"{record.n_tokens:,} tokens of unseen books; after "
        f"{record.tokens[-1] / 1e6:.1f} million training tokens ",
        number(percent(record.above_zero[-1, block])),
    ]  # fmt: skip
    if record.above_zero[least, block] < record.above_zero[-1, block]:
        told += [
            f", after a low of {percent(record.above_zero[least, block])} at "
            f"{record.tokens[least] / 1e6:.1f} million"
        ]
    return [*told, ". Training never asked for it."]
