"""The block frozen: it is linear once everything that depends on the input is held fixed."""

from collections.abc import Iterator

from ffnviz.analysis.lab.frozen import GATES, HELD, Folded, Frozen, freeze
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.figures.lab.linearity import off_linear
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.models.token_slice import index_in_full
from ffnviz.parts.experiments import experiment_subject
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting

REMOVED = "removed"
PHI = choice_setting("frozen_phi", {REMOVED: "removed", "held": "held: φ(z)/z"}).with_control(
    "φ in the folded matrix"
)
SETTINGS = (PHI,)


def sheet(run: Run, values: Values) -> Sheet:
    """How far from linear the block remains, beside what the folded matrix reads."""
    removed = values[PHI] == REMOVED
    state = run.state
    setup = (run.card.id, state.block, state.sentence, run.token, removed)

    def after(measured: Measured[Frozen]) -> list[Row]:
        result = measured.result
        reads = what_it_reads(run, result.folded, removed) if result.folded else soon
        return [row(how_linear(run, result), reads, widths=(1.3, 1))]

    soon = Soon("folded-stack", "Which tokens the one folded matrix reads", 520)
    before = [row(
        Soon("frozen", "How far from linear a block and all blocks are, held as they are", 520),
        soon, widths=(1.3, 1),
    )]  # fmt: skip
    doing = "Folding all blocks into one matrix …"
    return Sheet([
        Measurement("frozen", setup, frozen, after, (removed,), before, "Fold", doing, once=True)
    ])  # fmt: skip


def frozen(run: Run, progress: Progress, removed: bool) -> Iterator[Frozen]:
    """Freeze the chosen block and the whole stack; then fold the stack."""
    return freeze(experiment_subject(run), removed, progress)


def how_linear(run: Run, result: Frozen) -> Cell:
    """How far the block and the stack are from linear."""
    n = len(run.trace.blocks)
    stack = "the block" if n == 1 else f"all {n} blocks"
    sentence: Sentence = [
        f"With attention and LayerNorm held, φ alone leaves {stack} ",
        number(short(result.stack[HELD].additivity)), " from linear; with φ(z)/z held, too, "
        f"{short(result.stack[GATES].additivity)}, and the last stream is what it was, up to "
        f"{short(result.unchanged)}.",
    ]  # fmt: skip
    tried = {
        name: (each.additivity, result.stack[name].additivity)
        for name, each in result.block.items()
    }
    return chart_cell(
        Head(sentence, "frozen", run.card.colour),
        off_linear(
            tried, max(each.allowed for each in result.stack.values()),
            (f"block {run.state.block + 1}", stack), run.card.colour,
        ),
        "How far from linear the block and the stack are, with less and less that depends on the "
        "input.",
        height=520,
    )  # fmt: skip


def what_it_reads(run: Run, result: Folded, removed: bool) -> Cell:
    """The norm of the matrix through which the chosen token reads each token."""
    places = [index_in_full(run.trace, at) for at in range(len(run.labels))]
    shares = result.reads / result.reads.sum()
    rows, columns = result.shape
    without = "without φ" if removed else "with φ(z)/z held"
    sentence: Sentence = [
        f"Residual, attention and FFNs {without} fold into one matrix of {rows:,} × {columns:,}, "
        f"up to {short(result.off)}; ", number(percent(float(shares[run.place]))),
        " of it reads ", quoted(run.labels[run.token]), " itself.",
    ]  # fmt: skip
    marked = frozenset({run.labels[run.token]})
    bars = Bars("", run.labels, 100 * shares[places], run.card.colour, marked=marked)
    return bars_cell(
        Head(sentence, "folded-stack", run.card.colour), [bars],
        alt="How much of the folded matrix reads each token.",
        of="share of the norms, %", named="token",
    )  # fmt: skip
