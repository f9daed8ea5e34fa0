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
    told = [
        (verdict, n)
        for verdict in Verdict
        if (n := sum(finding.verdict is verdict for finding in findings))
    ]
    parts: Sentence = []
    for place, (verdict, n) in enumerate(told):
        if place:
            parts.append(" and " if place == len(told) - 1 else ", ")
        parts.append(number(f"{n} {_told(verdict, n)}"))
    total = len(findings)
    return [f"Of {total} claims, " if total > 1 else "Of 1 claim, ", *parts, "."]


def _told(verdict: Verdict, n: int) -> str:
    one = n == 1
    return {
        Verdict.HOLDS: "holds" if one else "hold",
        Verdict.ONLY_IF: f"{'holds' if one else 'hold'} only under a condition",
        Verdict.FAILS: "does not hold" if one else "do not hold",
        Verdict.UNDECIDED: "cannot be decided here",
    }[verdict]
