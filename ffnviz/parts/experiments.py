"""What parts share that test a claim: what is tested, and how its verdicts are shown."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ffnviz.analysis.lab.experiment import Finding, Said, Subject, Verdict
from ffnviz.figures.wording import Sentence, number
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.verdicts import Claim, verdicts_cell
from ffnviz.state.run import Run

R = TypeVar("R")


def experiment_subject(run: Run) -> Subject:
    """The run's model, sentence, block and token, for an experiment."""
    return Subject(run.model, run.trace, run.state.block, run.token)


def cached_result(run: Run, name: str, compute: Callable[[Subject], R]) -> R:
    """What was computed for this block and token: a slider that chooses from it is quick."""
    setup = (name, run.state.block, run.token)
    return run.subject.per_sentence(setup, lambda: compute(experiment_subject(run)))


def as_claim(finding: Finding) -> Claim:
    """A finding as the component shows it."""
    return Claim(
        finding.claim, finding.verdict.kind, finding.verdict.sign, finding.verdict_text,
        finding.expected, finding.measured, str(finding.check), str(finding.said),
        finding.verdict_text.removeprefix(str(finding.verdict)),
        "Often thought" if finding.said is Said.PEOPLE else "",
    )  # fmt: skip


def verdicts_of(head: Head, findings: Sequence[Finding]) -> Cell:
    """One experiment's claims."""
    groups = [("", [as_claim(finding) for finding in findings])]
    return verdicts_cell(head, groups, f"verdicts-{head.note}", dense=True)


def tally(findings: Sequence[Finding]) -> Sentence:
    """What became of the textbooks' claims; what people often think is counted apart."""
    taught = [finding for finding in findings if finding.said is Said.TEXTBOOKS]
    thought = len(findings) - len(taught)
    sentence: Sentence = _counted("Of {} textbook claims, ", "The one textbook claim ", taught)
    if thought:
        one = thought == 1
        sentence.append(
            f" {thought} more {'is a' if one else 'are'} common misconception{'s' * (not one)}."
        )
    return sentence


def tally_of_all(findings: Sequence[Finding]) -> Sentence:
    """The same for all experiments, with what became of what people often think."""
    taught, thought = ([finding for finding in findings if finding.said is said] for said in Said)
    return [
        *_counted("Of {} textbook claims, ", "The one textbook claim ", taught), " ",
        *_counted("Of {} that people often think, ", "The one that people often think ", thought),
    ]  # fmt: skip


def _counted(many: str, one: str, findings: Sequence[Finding]) -> Sentence:
    """How many hold, how many do not, how many under a condition."""
    total = len(findings)
    counts = [
        (verdict, n)
        for verdict in Verdict
        if (n := sum(finding.verdict is verdict for finding in findings))
    ]
    if total == 1:
        return [one, number(_told(counts[0][0], 1)), "."]
    parts: Sentence = []
    for place, (verdict, n) in enumerate(counts):
        if place:
            parts.append(" and " if place == len(counts) - 1 else ", ")
        counted = f"{n} {_told(verdict, n)}"
        parts.append(counted if place else number(counted))
    return [many.format(total), *parts, "."]


def _told(verdict: Verdict, n: int) -> str:
    one = n == 1
    return {
        Verdict.HOLDS: "holds" if one else "hold",
        Verdict.ONLY_IF: f"{'holds' if one else 'hold'} only under a condition",
        Verdict.FAILS: "does not hold" if one else "do not hold",
        Verdict.UNDECIDED: "cannot be decided here",
    }[verdict]
