"""Never above zero: the neurons this sentence does not reach, and those no book reached."""

from ffnviz.analysis.sparsity.never import reached
from ffnviz.analysis.sparsity.record import record_of
from ffnviz.figures.sparsity import never as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head, Part
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

SHOWN = 40


def sheet(run: Run, values: Values) -> Sheet:  # noqa: ARG001
    """The picture over the numbers of the neurons that no book reached."""
    block, here, d_ff = run.state.block, run.card, run.model.sizes.d_ff
    records = {traced.card: record_of(traced.network) for traced in run.both}
    reach = {traced.card: reached(traced.trace, block) for traced in run.both}
    asleep = {card: record.final_never[block] for card, record in records.items()}
    chart = chart_cell(
        Head(_sentence(run, len(reach[here].never), len(asleep[here])), "never", here.colour),
        figures.reached(
            {card: each.shares for card, each in reach.items()},
            {card: 1 - len(units) / d_ff for card, units in asleep.items()},
            run.labels,
        ),
        "The share of neurons above zero at least once, token after token, for each network.",
        key="never",
        height=560,
    )
    numbers: list[list[Part]] = []
    for card, units in asleep.items():
        which = f"{card.label}, block {block + 1}, never above zero on "
        books = f"{records[card].final_n_tokens:,} tokens of books it did not train on:"
        shown = ", ".join(map(str, units[:SHOWN])) or "none"
        more = f" and {len(units) - SHOWN:,} more" if len(units) > SHOWN else ""
        numbers.append([(which + books, "strong"), f" {shown}{more}."])
    return Sheet([row([chart, text_cell("never-numbers", *numbers)])])


def _sentence(run: Run, never: int, asleep: int) -> Sentence:
    d_ff = run.model.sizes.d_ff
    return [
        f"In block {run.state.block + 1} of {run.card.label}, ",
        number(f"{never:,} of {d_ff:,} neurons ({percent(never / d_ff)})"),
        " are above zero on no token of this sentence; on no token of whole books, ",
        number(f"{asleep:,} ({percent(asleep / d_ff)})"), ".",
    ]  # fmt: skip
