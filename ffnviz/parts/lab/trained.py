"""What a network needs: small networks trained with and without it, from the same seeds."""

from ffnviz.analysis.lab.trained import compare_trainings
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.experiments import verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.parts.trainings import trainings_chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values


def sheet(run: Run, _: Values) -> Sheet:
    """All comparisons beside the verdicts."""
    trained = compare_trainings()
    pairs = [each.pairs for each in trained.answered if each.pairs is not None]
    fewest, most = (end((pair.n for pair in pairs), default=0) for end in (min, max))
    seeds = f"{most} seed{'s' * (most != 1)}" if fewest == most else f"{fewest} to {most} seeds"
    sentence: Sentence = [
        "Small networks trained with one thing changed, from ", number(seeds), " each."
    ]  # fmt: skip
    under = "d_model 64, everyday sentences" + (f", {pairs[0].steps:,} steps" if pairs else "")
    head = Head(sentence, "lab-trainings", run.card.colour, under=[under])
    chart = trainings_chart(head, trained.answered, "lab-trainings")
    return Sheet([row(chart, verdicts_of(run, "lab-trained", trained.findings))])
