"""Pairs of small trainings as a chart, in the Lab and on Learn."""

from collections.abc import Sequence

from ffnviz.analysis.lab.chance import FALSE_ALARM
from ffnviz.analysis.lab.trained import Answered, signed
from ffnviz.figures.lab.trainings import Compared, compared
from ffnviz.figures.layout import escaped
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head

ROW, FRAME = 34, 110  # pixels


def trainings_chart(head: Head, answered: Sequence[Answered], key: str) -> Cell:
    """What each comparison found, except those that nobody has trained."""
    rows = [
        Compared(
            escaped(each.question.name),
            pairs.differences,
            pairs.interval(FALSE_ALARM),
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
