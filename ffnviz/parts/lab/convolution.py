"""The FFN as two convolutions with kernel 1, and the transposes it takes."""

from collections.abc import Sequence

import numpy as np

from ffnviz.analysis.lab.convolution import AsConvolution, try_convolution
from ffnviz.analysis.number_format import short
from ffnviz.parts.experiments import cached_for_block, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure, axis, figure, row_axis
from ffnviz.pictures.text import code_cell
from ffnviz.pictures.wording import Sentence, number, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

LEAST = 1e-18


def ladder(rungs: Sequence[tuple[str, float, str]], what: str) -> Figure:
    """A dot a number, its name beside it; an exact zero stands at the far left and says so.

    Args:
        rungs: name, value and colour of each, from top to bottom.
        what: what the numbers are.
    """
    values = np.array([max(LEAST, value) for _, value, _ in rungs])
    y = np.arange(len(rungs))
    texts = [
        f"  <b>{'exactly 0' if value == 0 else short(value)}</b> {name}" for name, value, _ in rungs
    ]
    right = float(np.log10(values.max())) + 14
    return figure(
        [{
            "type": "scatter", "mode": "markers+text", "name": what, "x": values, "y": y,
            "text": texts, "textposition": "middle right", "textfont": {"size": 17},
            "marker": {"size": 18, "color": [colour for _, _, colour in rungs]},
            "cliponaxis": False, "hoverinfo": "none",
        }],
        axis(f"{what}, logarithmic", type="log", range=[-18.4, max(4.0, right)],
             tickvals=np.array([10.0**k for k in range(-18, 3, 4)]),
             ticktext=["0"] + [f"10<sup>{k}</sup>" for k in range(-14, 3, 4)]),
        row_axis(len(rungs), showticklabels=False),
        margin={"l": 24, "r": 16, "t": 10, "b": 56},
        showlegend=False,
    )  # fmt: skip


CODE = """\
first  = nn.Conv1d({d_model}, {d_ff}, kernel_size=1)
second = nn.Conv1d({d_ff}, {d_model}, kernel_size=1)
first.weight.data  = ffn.expand.weight[..., None]    # ({d_ff}, {d_model}) is ({d_ff}, {d_model}, 1)
second.weight.data = ffn.compress.weight[..., None]  # and the biases likewise

x = trace.blocks[{block}].ffn.input[None]  # (B, L, d) = (1, {n}, {d_model})
y = first(x.mT)                        # (B, d, L): {into} → {hidden}
y = second(phi(y)).mT                  # {hidden} → {out}, back to (B, L, d)
"""


def sheet(run: Run, _: Values) -> Sheet:
    """The difference over the verdicts and the code."""
    result = cached_for_block(run, ("convolution",), try_convolution)
    refused: Sentence = []
    if result.refused:
        refused = ["Without the transposes PyTorch says: ", quoted(result.refused)]
    sizes, (into, hidden, out) = run.model.sizes, result.shapes
    code = CODE.format(
        d_model=sizes.d_model, d_ff=sizes.d_ff, n=len(result.difference), block=run.state.block,
        into=into, hidden=hidden, out=out,
    ).rstrip()  # fmt: skip
    verdicts = verdicts_of(run, "lab-convolution", result.findings, refused)
    below = row(verdicts, code_cell("code", code), widths=(1, 1.2))
    return Sheet([row(how_close(run, result)), below])


def how_close(run: Run, result: AsConvolution) -> Cell:
    """The largest difference, beside what rounding allows and the size of the outputs."""
    largest = float(result.difference.max())
    sentence: Sentence = [
        "The same weights as convolutions give the same outputs: they differ by at most ",
        number("exactly 0" if largest == 0 else short(largest)), ".",
    ]  # fmt: skip
    rungs = [
        ("largest difference", largest, f"@{run.card.colour}"),
        ("rounding may make", float(result.allowed.max()), "@muted"),
        ("largest output", result.size, "@text"),
    ]
    return chart_cell(
        Head(sentence, "lab-ladder", run.card.colour),
        ladder(rungs, "in float64"),
        "The difference, what rounding allows, and the outputs, on a logarithmic scale.",
        key="lab-convolution",
        height=270,
    )
