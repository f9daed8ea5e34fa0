"""The Lab: what textbooks say, tested on the network. An experiment is a file and a line here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ffnviz.analysis.lab.bend_deleted import remove_phi
from ffnviz.analysis.lab.experiment import FFN_NEEDS, Experiment, Finding, Result, Subject
from ffnviz.analysis.lab.fitting import three_phis
from ffnviz.analysis.lab.influence import input_influence
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_convolution, try_positions, try_sharing
from ffnviz.analysis.lab.residual import try_dropout, try_residual
from ffnviz.analysis.lab.trained import compare_trainings
from ffnviz.analysis.lab.width import WIDTH_NEEDS, try_width
from ffnviz.analysis.lab.zoo import visit_zoo
from ffnviz.analysis.measuring import Progress, subprogress
from ffnviz.analysis.needs import Capability, missing
from ffnviz.models.network import NotForThisNetwork


def _quick(measure: Callable[[Subject], Result]) -> Callable[[Subject, Progress], Result]:
    """An experiment that is too quick for a progress bar."""
    return lambda subject, _: measure(subject)


ANY_FFN = (Capability.OURS,)  # plain or gated

EXPERIMENTS = (
    Experiment("positions", "Position-wise", _quick(try_positions), FFN_NEEDS),
    Experiment("sharing", "Shared weights", _quick(try_sharing), FFN_NEEDS),
    Experiment("convolution", "As a convolution", _quick(try_convolution), FFN_NEEDS),
    Experiment("bend", "Without φ", _quick(remove_phi)),
    Experiment("linear", "Linear?", _quick(try_linearity), FFN_NEEDS),
    Experiment("fit", "Fit a function", three_phis, FFN_NEEDS),
    Experiment("hears", "Input influence", lambda s, p: input_influence(s, progress=p), ANY_FFN),
    Experiment(
        "residual", "Residual and LayerNorm", lambda s, p: try_residual(s, progress=p), ANY_FFN
    ),
    Experiment("zoo", "The activation function", _quick(visit_zoo)),
    Experiment("width", "Keep the top k", _quick(try_width), WIDTH_NEEDS),
    Experiment("dropout", "Dropout", _quick(try_dropout), ANY_FFN),
    Experiment("trained", "What a network needs", _quick(compare_trainings), ()),
)


@dataclass(frozen=True)
class Tested:
    """One experiment and its findings."""

    experiment: Experiment
    findings: tuple[Finding, ...]  # empty where it cannot be made on this network
    why_not: str = ""  # a sentence that says why not


def try_all(subject: Subject, progress: Progress = lambda _: None) -> tuple[Tested, ...]:
    """All experiments with their default settings, one after the other, as `try_each` does."""
    return tuple(try_each(subject, progress))


def try_each(subject: Subject, progress: Progress = lambda _: None) -> Iterator[Tested]:
    """Each experiment with its default settings, as soon as it is made.

    Those that need more than the network has are skipped, and say why.

    Raises:
        NotForThisNetwork: if its FFN is gated: most claims are about the plain one.
    """
    card = subject.model.card
    if card.gated:
        raise NotForThisNetwork(f"The Lab tests plain FFNs, and {card.phi.label} is gated.")
    n = len(EXPERIMENTS)
    for place, experiment in enumerate(EXPERIMENTS):
        progress(place / n)
        lacking = missing(card, experiment.needs)
        if lacking:
            yield Tested(experiment, (), lacking[0].value)
            continue
        try:
            result = experiment.measure(subject, subprogress(progress, place, n))
        except NotForThisNetwork as error:
            yield Tested(experiment, (), str(error))
        else:
            yield Tested(experiment, result.findings)
    progress(1.0)
