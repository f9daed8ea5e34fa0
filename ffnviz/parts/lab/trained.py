"""What a network needs: small networks trained with and without it, from the same seeds."""

from collections.abc import Sequence

from ffnviz.analysis.lab.trained import Answered, compare_trainings
from ffnviz.parts.experiments import EACH, difference, trainings_chart, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

LEADS = "no-ffn"  # the variant that the page is about first
KEY = "lab-trainings"


def sheet(run: Run, _: Values) -> Sheet:
    """All comparisons beside the verdicts."""
    trained = compare_trainings()
    shown = [each for each in trained.answered if each.pairs is not None]
    verdicts = verdicts_of(run, "lab-trained", trained.findings)
    return Sheet([row(_compared(run, shown, len(trained.answered)), verdicts)])


def _compared(run: Run, shown: Sequence[Answered], n: int) -> Cell:
    leading = next((each for each in shown if each.question.variant == LEADS), shown[0])
    label = "Without FFNs" if leading.question.variant == LEADS else leading.question.name
    return trainings_chart(
        Head(difference(leading, label), "lab-trainings", run.card.colour, under=_under(shown, n)),
        shown,
        KEY,
    )


def _under(shown: Sequence[Answered], n: int) -> Sentence:
    done = sum(each.complete for each in shown)
    if done == n:
        return EACH
    have = "has all its seeds" if done == 1 else "have all their seeds"
    return f"{EACH}. {number(f'{done} of {n}')} planned comparisons {have}."
