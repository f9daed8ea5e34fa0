"""What a network needs: small networks trained with and without it, from the same seeds."""

from collections.abc import Sequence

from ffnviz.analysis.lab.trained import Answered, compare_trainings
from ffnviz.analysis.trainings.design import FAMILIES, search
from ffnviz.analysis.trainings.table import trainings
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.experiments import verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.parts.trainings import EACH, difference, trainings_chart
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

LEADS = "no-ffn"  # the variant that the page is about first
KEY = "lab-trainings"


def sheet(run: Run, _: Values) -> Sheet:
    """All comparisons beside the verdicts."""
    trained = compare_trainings()
    shown = [each for each in trained.answered if each.pairs is not None]
    if not shown:
        return Sheet([row(_not_yet())])
    verdicts = verdicts_of(run, "lab-trained", trained.findings)
    return Sheet([row(_compared(run, shown, len(trained.answered)), verdicts)])


def _not_yet() -> Cell:
    searches = [search(trainings(), name) for name in FAMILIES[0]]
    found = sum(each.next is None for each in searches)
    return text_cell(
        KEY,
        "Small networks are trained, each with one thing changed. None is compared yet.",
        "Each looks for its own learning rate first: "
        f"{found} of the first {len(searches)} have found it.",
    )


def _compared(run: Run, shown: Sequence[Answered], n: int) -> Cell:
    leading = next((each for each in shown if each.question.variant == LEADS), shown[0])
    label = "A network without FFNs" if leading.question.variant == LEADS else leading.question.name
    return trainings_chart(
        Head(difference(leading, label), KEY, run.card.colour, under=_under(shown, n)), shown, KEY
    )


def _under(shown: Sequence[Answered], n: int) -> Sentence:
    done = sum(each.complete for each in shown)
    return [EACH] if done == n else [
        EACH, ". ", number(f"{done} of {n}"), " comparisons have all their seeds.",
    ]  # fmt: skip
