"""What a network needs: small networks trained with and without it, from the same seeds."""

from collections.abc import Sequence

import numpy as np

from ffnviz.analysis.lab.trained import QUESTIONS, Answered, compare_trainings
from ffnviz.analysis.trainings import FAMILIES, RATES, search, trainings
from ffnviz.parts.experiments import EACH, difference, trainings_chart, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import axis, lines
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

LEADS = "no-ffn"  # the variant that the page is about first
KEY = "lab-trainings"


def sheet(run: Run, _: Values) -> Sheet:
    """All comparisons beside the verdicts."""
    trained = compare_trainings()
    shown = [each for each in trained.answered if each.pairs is not None]
    if not shown:
        return Sheet([row(_not_yet(run))])
    verdicts = verdicts_of(run, "lab-trained", trained.findings)
    return Sheet([row(_compared(run, shown, len(trained.answered)), verdicts)])


def _not_yet(run: Run) -> Cell:
    """The search for each network's learning rate, which comes first."""
    searches = {name: search(trainings(), name) for name in FAMILIES[0]}
    found = sum(each.next is None for each in searches.values())
    sentence = (
        "Nothing is decided yet. Each small network looks for its own learning rate first: "
        f"{number(f'{found} of {len(searches)}')} have found it."
    )
    names = {each.variant: each.name for each in QUESTIONS} | {"relu": "the usual network"}
    curves = {
        names[name]: (
            np.array([each.losses.get(rate, np.nan) for rate in RATES]),
            "@muted" if name != "relu" else f"@{run.card.colour}",
            "solid",
        )
        for name, each in searches.items()
        if each.losses
    }
    return chart_cell(
        Head(sentence, "lab-trainings", run.card.colour, under=EACH),
        lines(
            np.array(RATES),
            curves,
            axis(
                "learning rate",
                type="log",
                tickvals=list(RATES),
                ticktext=[f"{rate:g}" for rate in RATES],
            ),
            axis("loss on validation sentences, nats"),
        ),
        "The loss of each network on validation sentences by its learning rate.",
        key=KEY,
        height=480,
    )


def _compared(run: Run, shown: Sequence[Answered], n: int) -> Cell:
    leading = next((each for each in shown if each.question.variant == LEADS), shown[0])
    label = "A network without FFNs" if leading.question.variant == LEADS else leading.question.name
    return trainings_chart(
        Head(difference(leading, label), "lab-trainings", run.card.colour, under=_under(shown, n)),
        shown,
        KEY,
    )


def _under(shown: Sequence[Answered], n: int) -> Sentence:
    done = sum(each.complete for each in shown)
    if done == n:
        return EACH
    return f"{EACH}. {number(f'{done} of {n}')} comparisons have all their seeds."
