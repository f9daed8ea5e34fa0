"""What a network needs: small networks trained with and without it, from the same seeds."""

from ffnviz.analysis.lab.trained import compare_trainings
from ffnviz.parts.experiments import EACH, difference, trainings_chart, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Head
from ffnviz.pictures.wording import number
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

LEADS = "no-ffn"  # the variant that the page is about first


def sheet(run: Run, _: Values) -> Sheet:
    """All comparisons beside the verdicts."""
    trained = compare_trainings()
    shown = [each for each in trained.answered if each.pairs is not None]
    leading = next((each for each in shown if each.question.variant == LEADS), shown[0])
    label = "Without FFNs" if leading.question.variant == LEADS else leading.question.name
    n, done = len(trained.answered), sum(each.complete for each in shown)
    under = EACH
    if done < n:
        have = "has all its seeds" if done == 1 else "have all their seeds"
        under += f". {number(f'{done} of {n}')} planned comparisons {have}."
    head = Head(difference(leading, label), "lab-trainings", run.card.colour, under=under)
    verdicts = verdicts_of(run, "lab-trained", trained.findings)
    return Sheet([row(trainings_chart(head, shown, "lab-trainings"), verdicts)])
