"""The Lab: what textbooks say, tested on the loaded network.

A new experiment is a file here and a line below.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ffnviz.analysis.lab.approximation import three_phis
from ffnviz.analysis.lab.bend_deleted import delete_bend
from ffnviz.analysis.lab.convolution import try_convolution
from ffnviz.analysis.lab.dropout import try_dropout
from ffnviz.analysis.lab.experiment import Experiment, Finding, Result, Subject
from ffnviz.analysis.lab.influence import who_hears_whom
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_positions
from ffnviz.analysis.lab.residual import try_residual
from ffnviz.analysis.lab.sharing import try_sharing
from ffnviz.analysis.lab.width import try_width
from ffnviz.analysis.lab.zoo import visit_zoo
from ffnviz.analysis.needs import Need
from ffnviz.analysis.spread import Progress, part_of
from ffnviz.model.network import NotForThisNetwork


def _quick(measure: Callable[[Subject], Result]) -> Callable[[Subject, Progress], Result]:
    """An experiment that is over before a bar could move."""
    return lambda subject, _: measure(subject)


ANY_FFN = (Need.OURS,)  # plain or gated

EXPERIMENTS = (
    Experiment("positions", "Position-wise", _quick(try_positions)),
    Experiment("sharing", "Sharing", _quick(try_sharing)),
    Experiment("convolution", "Convolution", _quick(try_convolution)),
    Experiment("bend", "Delete the bend", _quick(delete_bend)),
    Experiment("linear", "Linear?", _quick(try_linearity)),
    Experiment("fit", "Fit a function", three_phis, ANY_FFN),
    Experiment("hears", "Who hears whom", lambda s, p: who_hears_whom(s, progress=p), ANY_FFN),
    Experiment("residual", "Residual", lambda s, p: try_residual(s, progress=p), ANY_FFN),
    Experiment("zoo", "Activation zoo", _quick(visit_zoo)),
    Experiment("width", "How wide?", _quick(try_width)),
    Experiment("dropout", "Dropout", _quick(try_dropout), ANY_FFN),
)


@dataclass(frozen=True)
class Tested:
    """One experiment and what it found.

    Attributes:
        experiment: which.
        findings: its verdicts.
    """

    experiment: Experiment
    findings: tuple[Finding, ...]


def try_all(subject: Subject, progress: Progress = lambda _: None) -> tuple[Tested, ...]:
    """All experiments with the settings they have by default, one after the other.

    Raises:
        NotForThisNetwork: if its FFN is gated: most claims are about the plain one.
    """
    card = subject.model.card
    if card.gated:
        raise NotForThisNetwork(f"The Lab tests plain FFNs, and {card.phi.label} is gated.")
    n = len(EXPERIMENTS)
    tested = []
    for place, experiment in enumerate(EXPERIMENTS):
        progress(place / n)
        result = experiment.measure(subject, part_of(progress, place, n))
        tested.append(Tested(experiment, result.findings))
    progress(1.0)
    return tuple(tested)
