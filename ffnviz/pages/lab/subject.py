"""What the Lab's parts share: what is tested, and how its verdicts are shown."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ffnviz.analysis.lab.experiment import Finding, Subject, Verdict, in_double
from ffnviz.analysis.needs import ours
from ffnviz.components.head import Head
from ffnviz.components.verdicts import Claim, verdicts
from ffnviz.figures.wording import Sentence, number
from ffnviz.run import Run

R = TypeVar("R")
MOST_SPACED = 3  # more findings than these stand closer together


def subject_of(run: Run) -> Subject:
    """The run's model, sentence, block and token, for an experiment."""
    encoder = run.subject.once("encoder in float64", lambda: in_double(ours(run.model)))
    return Subject(ours(run.model), run.trace, run.state.block, run.token, encoder)


def kept(run: Run, name: str, compute: Callable[[Subject], R]) -> R:
    """What was computed for this block and token: a slider that chooses from it is quick."""
    of = (name, run.state.block, run.token)
    return run.subject.here(of, lambda: compute(subject_of(run)))


def as_claim(finding: Finding) -> Claim:
    """A finding as the component shows it."""
    return Claim(
        finding.claim, finding.verdict.kind, finding.verdict.sign, finding.verdict_text,
        finding.expected, finding.measured, str(finding.check),
    )  # fmt: skip


def show_verdicts(run: Run, head: Head, findings: Sequence[Finding], version: str) -> None:
    """One experiment's claims."""
    verdicts(
        head,
        [("", [as_claim(finding) for finding in findings])],
        f"{run.stamp} {version}",
        key=f"verdicts-{head.note}",
        dense=len(findings) > MOST_SPACED,
    )


def tally(findings: Sequence[Finding]) -> Sentence:
    """How many hold, how many do not, how many under a condition."""
    counts = {
        kind: sum(finding.verdict is kind for finding in findings) for kind in Verdict
    }  # fmt: skip
    sentence: Sentence = [f"Of {len(findings)} claims ", number(f"{counts[Verdict.HOLDS]} hold")]
    if counts[Verdict.ONLY_IF]:
        sentence += [", ", number(f"{counts[Verdict.ONLY_IF]} under a condition")]
    if counts[Verdict.FAILS]:
        sentence += [", ", number(f"{counts[Verdict.FAILS]} do not")]
    if counts[Verdict.UNDECIDED]:
        sentence += [", ", number(f"{counts[Verdict.UNDECIDED]} cannot be told here")]
    return [*sentence, "."]
