"""The FFN as two convolutions with kernel 1, and the transposes it takes."""

import streamlit as st

from ffnviz.analysis.lab.convolution import AsConvolution, try_convolution
from ffnviz.analysis.number_format import short
from ffnviz.figures.lab.ladder import ladder
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.lab.subject import experiment_subject, show_verdicts, tally
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

CODE = """\
first  = nn.Conv1d({d_model}, {d_ff}, kernel_size=1)
second = nn.Conv1d({d_ff}, {d_model}, kernel_size=1)
first.weight.data  = ffn.expand.weight[..., None]    # ({d_ff}, {d_model}) is ({d_ff}, {d_model}, 1)
second.weight.data = ffn.compress.weight[..., None]  # and the biases likewise

x = trace.blocks[{block}].ffn.input[None]   # (B, L, d) = (1, {n}, {d_model})
y = first(x.mT)                         # (B, d, L): {into} → {hidden}
y = second(phi(y)).mT                   # {hidden} → {out}, and back to (B, L, d)
"""


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """The verdicts beside the difference and the code."""
    found = try_convolution(experiment_subject(run))
    left, right = st.columns([1, 2], gap="medium")
    with left:
        show_verdicts(
            run,
            Head(tally(found.findings), "lab-convolution", run.card.colour),
            found.findings,
            "",
        )
        if found.refused:
            st.markdown("Without the transposes PyTorch says:")
            st.code(found.refused, language=None, wrap_lines=True)
    with right:
        how_close(run, found)
        config = run.model.sizes
        into, hidden, out = (str(shape) for shape in found.shapes)
        st.code(
            CODE.format(d_model=config.d_model, d_ff=config.d_ff, n=len(found.difference),
                        block=run.state.block, into=into, hidden=hidden, out=out),
            language=None,
            wrap_lines=True,
        )  # fmt: skip


def how_close(run: Run, found: AsConvolution) -> None:
    """The largest difference between what rounding may make and the outputs themselves."""
    largest = float(found.difference.max())
    sentence: Sentence = [
        "The same weights as convolutions give the same outputs: they differ by at most ",
        number("exactly 0" if largest == 0 else short(largest)), ".",
    ]  # fmt: skip
    rungs = [
        ("largest difference", largest, f"@{run.card.colour}"),
        ("rounding may make", float(found.allowed.max()), "@muted"),
        ("largest output", found.size, "@text"),
    ]
    chart(
        Head(sentence, "lab-ladder", run.card.colour),
        ladder(rungs, "in float64"),
        "The difference, what rounding allows, and the outputs, on a logarithmic scale.",
        run.stamp,
        key="lab-convolution",
        height=270,
    )
