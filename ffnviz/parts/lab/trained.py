"""What a network needs: small networks trained with and without it, from the same seeds."""

from collections.abc import Sequence

from ffnviz.analysis.lab.trained import Answered, compare_trainings
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
    verdicts = verdicts_of(run, "lab-trained", trained.findings)
    return Sheet([row(_compared(run, trained.answered), verdicts)])


def _compared(run: Run, answered: Sequence[Answered]) -> Cell:
    shown = [each for each in answered if each.pairs is not None]
    if not shown:
        return text_cell(
            KEY,
            "Small networks are being trained, each with one thing changed.",
            "None is compared yet: first each looks for its own learning rate.",
        )
    leading = next((each for each in shown if each.question.variant == LEADS), shown[0])
    label = "A network without FFNs" if leading.question.variant == LEADS else leading.question.name
    return trainings_chart(
        Head(difference(leading, label), KEY, run.card.colour, under=_under(answered)), shown, KEY
    )


def _under(answered: Sequence[Answered]) -> Sentence:
    done = sum(each.complete for each in answered)
    if done == len(answered):
        return [EACH]
    return [EACH, ". ", number(f"{done} of {len(answered)}"), " comparisons have all their seeds."]
