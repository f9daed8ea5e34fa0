"""How the twins became sparse in training, and the neurons that are dead after it."""

from ffnviz.analysis.sparsity.never import reached
from ffnviz.analysis.sparsity.record import TrainingRecord, record_of
from ffnviz.figures.sparsity import never as figures
from ffnviz.figures.sparsity.birth import birth
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head, Part
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

PUBLISHED = (
    "The published shares are of T5-Base and ViT-B/16 (Li et al. 2022, arXiv:2210.06313). Those "
    "networks differ in size, data and length of training; we do not know which of these makes "
    "them sparser.",
)
SHOWN = 40  # neurons by their numbers


def record(run: Run, values: Values) -> Sheet:  # noqa: ARG001
    """Both networks' records in one picture."""
    records = {traced.card: record_of(traced.network) for traced in run.both}
    own = records[run.card]
    lines = [(card, block) for card in records for block in range(own.above_zero.shape[1])]
    panels = [
        ("activations above zero",
         {(card, block): 100 * records[card].above_zero[:, block] for card, block in lines}),
        ("neurons above zero on none of these tokens",
         {(card, block): 100 * records[card].never[:, block] for card, block in lines}),
    ]  # fmt: skip
    chart = chart_cell(
        Head(_sentence(own, run), "birth", run.card.colour, under=PUBLISHED),
        birth(own.tokens, panels, {card: record.loss for card, record in records.items()}),
        "The share of activations above zero, of neurons that never are, and the loss, from the "
        "first step of training to the last, for each network.",
        height=600,
    )
    return Sheet([row(chart)])


def _sentence(record: TrainingRecord, run: Run) -> Sentence:
    block = run.state.block
    shares = record.above_zero[:, block]
    least = int(shares.argmin())
    sentence: Sentence = [
        f"Before training, {percent(shares[0])} of the activations in {run.card.label}'s block "
        f"{block + 1} were above zero, on {record.n_tokens:,} tokens of unseen books; after "
        f"{record.tokens[-1] / 1e6:.1f} million training tokens, ", number(percent(shares[-1])),
    ]  # fmt: skip
    if shares[least] < shares[-1]:
        low = f"{percent(shares[least])} at {record.tokens[least] / 1e6:.1f} million"
        sentence.append(f", after a low of {low}")
    return [*sentence, ". Nothing in the loss asks for this."]


def dead(run: Run, values: Values) -> Sheet:  # noqa: ARG001
    """How many neurons each token adds, and the numbers of those that no book activates."""
    block, here, d_ff = run.state.block, run.card, run.model.sizes.d_ff
    records = {traced.card: record_of(traced.network) for traced in run.both}
    reach = {traced.card: reached(traced.trace, block) for traced in run.both}
    never = {card: record.final_never[block] for card, record in records.items()}
    under: list[Part] = []
    for card, units in never.items():
        shown = ", ".join(map(str, units[:SHOWN])) or "none"
        more = f" and {len(units) - SHOWN:,} more" if len(units) > SHOWN else ""
        under.append(
            f"{card.label}, block {block + 1}, never above zero on "
            f"{records[card].final_n_tokens:,} tokens of books it did not train on: {shown}{more}. "
        )
    sentence = _dead_sentence(run, len(reach[here][1]), len(never[here]))
    chart = chart_cell(
        Head(sentence, "never", here.colour, under=under),
        figures.reached(
            {card: shares for card, (shares, _) in reach.items()},
            {card: 1 - len(units) / d_ff for card, units in never.items()},
            run.labels,
        ),
        "The share of neurons above zero at least once, token after token, for each network.",
        height=560,
    )
    return Sheet([row(chart)])


def _dead_sentence(run: Run, here: int, in_books: int) -> Sentence:
    d_ff = run.model.sizes.d_ff
    return [
        f"In block {run.state.block + 1} of {run.card.label}, ",
        number(f"{here:,} of {d_ff:,} neurons ({percent(here / d_ff)})"),
        " are above zero on no token of this sentence; on no token of whole books, "
        f"{in_books:,} ({percent(in_books / d_ff)}).",
    ]  # fmt: skip
