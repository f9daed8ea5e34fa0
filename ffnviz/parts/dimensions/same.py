"""One FFN for all tokens: one set of weights, and the batch view of the usual code example."""

import streamlit as st

from ffnviz.analysis.dimensions.position_wise import position_wise
from ffnviz.analysis.number_format import short
from ffnviz.figures.dimensions.flow import shared_weights
from ffnviz.figures.layout import escaped
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

CODE = """\
x = torch.stack([record.input, record.input])  # (B, T, d_model) = (2, {n}, {d_model})

ffn(x)                                         # (2, {n}, {d_model}): Linear works on the last axis
ffn(x.flatten(0, 1)).unflatten(0, (2, {n}))    # (2·{n}, {d_model}): the same rows, as a long list
torch.cat([ffn(row[None]) for row in x[0]])    # one token at a time
"""


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """The diagram beside the batch view."""
    config, n = run.model.sizes, len(run.labels)
    found = position_wise(run.model, run.trace, run.state.block)
    sentence: Sentence = [
        number(f"{n} tokens, one set of {found.n_parameters:,} parameters"),
        ": no token's row depends on another's, and no position has weights of its own.",
    ]
    picture, batch = st.columns([1.2, 1], gap="medium")
    with picture:
        chart(
            Head(sentence, "same", run.card.colour),
            shared_weights(
                [escaped(label) for label in run.labels], config.d_model, config.d_ff,
                found.n_parameters, run.card.colour,
            ),
            "Every token goes through the same weights on a line of its own.",
            run.stamp,
            key="same",
            height=680,
        )  # fmt: skip
    with batch:
        st.markdown("**The batch view.** `ffn` and `record` as under *The flow of shapes*:")
        st.code(CODE.format(n=n, d_model=config.d_model), language=None, wrap_lines=True)
        st.markdown(
            "| measured just now, on this sentence | largest difference |\n|---|---|\n"
            f"| a batch of two copies, (2, {n}, {config.d_model}), against one | "
            f"**{short(found.batch)}** |\n"
            f"| the batch as {2 * n} rows, ({2 * n}, {config.d_model}), against the batch | "
            f"**{short(found.flattened)}** |\n"
            f"| each token alone, (1, {config.d_model}), against all together | "
            f"**{short(found.alone)}** |\n\n"
            "Where a difference is not exactly 0, it is rounding: a product of one row may be "
            "added up in another order than a product of many."
        )
