"""One FFN for all tokens: one set of weights, and the batch view of the usual code example."""

from ffnviz.analysis.dimensions.position_wise import position_wise
from ffnviz.analysis.number_format import short
from ffnviz.figures.dimensions.flow import shared_weights
from ffnviz.figures.layout import escaped
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.code import code_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.table import table_cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

CODE = """\
x = torch.stack([record.input, record.input])  # (B, T, d_model) = (2, {n}, {d_model})

ffn(x)                                         # (2, {n}, {d_model}): Linear works on the last axis
ffn(x.flatten(0, 1)).unflatten(0, (2, {n}))    # (2·{n}, {d_model}): the same rows, as a long list
torch.cat([ffn(row[None]) for row in x[0]])    # one token at a time
"""


def sheet(run: Run, _: Values) -> Sheet:
    """The diagram beside the batch view."""
    d_model, d_ff, n = run.model.sizes.d_model, run.model.sizes.d_ff, len(run.labels)
    apart = position_wise(run.model, run.trace, run.state.block)
    shared: Sentence = [
        number(f"{n} tokens, one set of {apart.n_parameters:,} parameters"),
        ": no token's row depends on another's, and no position has weights of its own.",
    ]
    picture = chart_cell(
        Head(shared, "same", run.card.colour),
        shared_weights([escaped(label) for label in run.labels], d_model, d_ff,
                       apart.n_parameters, run.card.colour),
        "Every token goes through the same weights on a line of its own.",
        height=656,
    )  # fmt: skip
    compared = (
        (f"a batch of two copies, (2, {n}, {d_model}), against one", apart.batch),
        (f"the batch as {2 * n} rows, ({2 * n}, {d_model}), against the batch", apart.flattened),
        (f"each token alone, (1, {d_model}), against all together", apart.alone),
    )
    measured: Sentence = [
        "Measured just now, on this sentence, they differ by at most ",
        number(short(max(difference for _, difference in compared))), ".",
    ]  # fmt: skip
    under = (
        "Where a difference is not exactly 0, it is rounding: a product of one row may be summed "
        "in another order than a product of many."
    )
    table = table_cell(
        "batch",
        Head(measured, "batch", run.card.colour, under=[under]),
        ("what is compared", "largest difference"),
        [(what, short(difference)) for what, difference in compared],
    )
    names = " ffn and record are those of the view “shapes”:"
    title = text_cell("batch-view", [("In batches.", "strong"), names])
    code = code_cell("code", CODE.format(n=n, d_model=d_model))
    return Sheet([row(picture, [title, code, table], widths=(1.2,))])
