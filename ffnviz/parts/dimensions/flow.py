"""The flow of shapes, next to the code that does it."""

import streamlit as st

from ffnviz.analysis.dimensions.position_wise import against_sequential
from ffnviz.analysis.number_format import short
from ffnviz.figures.dimensions.flow import flow
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

CODE = """\
import ffnviz
import torch
from torch import nn

model = ffnviz.load("{network}")
trace = model.trace({text!r})
record = trace.blocks[{block}].ffn       # what block {number} did
trained = model.encoder.blocks[{block}].ffn

ffn = nn.Sequential(
    nn.Linear({d_model}, {d_ff}),  # ({n}, {d_model}) -> ({n}, {d_ff})
    nn.{label}(),            # ({n}, {d_ff}), one by one
    nn.Linear({d_ff}, {d_model}),  # ({n}, {d_ff}) -> ({n}, {d_model})
)
ffn[0].load_state_dict(trained.expand.state_dict())
ffn[2].load_state_dict(trained.compress.state_dict())

with torch.inference_mode():
    output = ffn(record.input)
print(record.input.shape, "->", output.shape)
print((output - record.output).abs().max())
"""


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """The diagram beside the code."""
    picture, code = st.columns([1.5, 1], gap="medium")
    block, config = run.state.block, run.model.sizes
    label, n = run.card.phi.label, len(run.labels)
    with picture:
        chart(
            Head(_sentence(run), "flow", run.card.colour),
            flow(n, config.d_model, config.d_ff, label, run.card.colour),
            f"From {n} by {config.d_model} to {n} by {config.d_ff} and back.",
            run.stamp,
            key="flow",
            height=680,
        )
    with code:
        st.markdown("The same in PyTorch, with this block's weights. It runs in a notebook:")
        st.code(
            CODE.format(
                network=run.card.id, text=run.trace.text, block=block, number=block + 1, n=n,
                label=label, d_model=config.d_model, d_ff=config.d_ff,
            ),
            language=None, wrap_lines=True,
        )  # fmt: skip


def _sentence(run: Run) -> Sentence:
    config, n = run.model.sizes, len(run.labels)
    difference = against_sequential(run.model, run.trace, run.state.block)
    return [
        f"Your {n} tokens go through as ",
        number(f"({n}, {config.d_model:,}) → ({n}, {config.d_ff:,}) → ({n}, {config.d_model:,})"),
        f": {config.d_ff / config.d_model:g} times as wide, bent, and narrow again. PyTorch's own "
        "layers with the same weights differ by at most ", number(short(difference)), ".",
    ]  # fmt: skip
