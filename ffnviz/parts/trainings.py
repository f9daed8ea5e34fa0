"""Pairs of small trainings in words and as a chart, in the Lab and on Learn."""

from collections.abc import Sequence

from ffnviz.analysis.lab.trained import ALPHA, SCOPE, Answered, signed
from ffnviz.analysis.trainings.design import STEPS
from ffnviz.figures.lab.trainings import Compared, compared
from ffnviz.figures.layout import escaped
from ffnviz.figures.wording import Sentence, number
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head

ROW, FRAME = 34, 110  # pixels
BASES = {"relu": "the usual network", "few": "the same without dropout"}
EACH = f"d_model 64, everyday sentences, {STEPS:,} steps, each network at its own learning rate"


def difference(answered: Answered, label: str) -> Sentence:
    """What the trainings say of one variant, which has some."""
    pairs = answered.pairs
    assert pairs is not None  # noqa: S101
    base = BASES.get(answered.question.base, "ReLU of the same width")
    if not answered.complete:
        return [f"{label}: ", number(answered.so_far), ", too few to decide anything."]
    if not answered.decided:
        return [
            f"{label} and {base} differ by ", number(f"{signed(pairs.effect)} nats"),
            ", which chance may have made.",
        ]  # fmt: skip
    more = "more" if pairs.effect > 0 else "less"
    return [
        f"{label} loses ", number(f"{abs(pairs.effect):.3f} nats {more}"), f" than {base}, {SCOPE}."
    ]  # fmt: skip


def trainings_chart(head: Head, answered: Sequence[Answered], key: str) -> Cell:
    """What each comparison found, except those that nobody has trained."""
    rows = [
        Compared(
            escaped(each.question.name),
            pairs.differences,
            pairs.interval(ALPHA),
            f"<b>{signed(pairs.effect)}</b>",
        )
        for each in answered
        if (pairs := each.pairs) is not None
    ]
    return chart_cell(
        head,
        compared(rows, head.accent),
        "By how much each variant's loss is higher than the usual network's, seed by seed.",
        key=key,
        height=FRAME + ROW * max(1, len(rows)),
    )
