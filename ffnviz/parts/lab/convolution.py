"""The FFN as two convolutions with kernel 1, and the transposes it takes."""

from ffnviz.analysis.lab.convolution import AsConvolution, try_convolution
from ffnviz.analysis.number_format import short
from ffnviz.figures.lab.ladder import ladder
from ffnviz.figures.wording import Sentence, number, quoted
from ffnviz.parts.experiments import cached_for_block, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.code import code_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

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
