"""What the parts that test claims share: the subject of an experiment, and its verdicts."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ffnviz.analysis.lab.experiment import Finding, Said, Subject, Verdict
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.votes import Claim, verdicts_cell
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run

R = TypeVar("R")


def experiment_subject(run: Run) -> Subject:
    """The run's model, sentence, block and token, for an experiment."""
    per_network = run.subject.per_network
    return Subject(run.model, run.trace, run.state.block, run.token, per_network)


def cached_result(run: Run, name: str, compute: Callable[[Subject], R]) -> R:
    """An experiment's result on this block and token, kept so that a slider over it is quick."""
    return cached_for_block(run, (name, run.token), compute)


def cached_for_block(run: Run, name: tuple[Any, ...], compute: Callable[[Subject], R]) -> R:
    """An experiment's result on this block, whichever token is chosen."""
    key = (*name, run.state.block)
    return run.subject.per_sentence(key, lambda: compute(experiment_subject(run)))


def as_claim(finding: Finding) -> Claim:
    """A finding as the picture of verdicts shows it."""
    return Claim(
        finding.claim, "constructed" if finding.because else finding.verdict.kind,
        finding.verdict.sign, finding.verdict_text,
        finding.expected, finding.measured, str(finding.check), str(finding.said),
        finding.verdict_text.removeprefix(str(finding.verdict)),
        "Often thought" if finding.said is Said.PEOPLE else finding.source,
    )  # fmt: skip


def verdicts_of(
    run: Run, note: str, findings: Sequence[Finding], under: Sentence | None = None
) -> Cell:
    """One experiment's claims under what it found; below, their tally."""
    head = Head(
        found(findings), note, run.card.colour, under=[*tally(findings), " ", *(under or ())]
    )
    groups = [("", [as_claim(finding) for finding in findings])]
    return verdicts_cell(head, groups, f"verdicts-{note}", dense=True)


def found(findings: Sequence[Finding]) -> Sentence:
    """The first claim that a test decides, with its verdict; else the first of all."""
    could_fail = [each for each in findings if each.said is not Said.CONSTRUCTION]
    decided = [each for each in could_fail if each.verdict is not Verdict.UNDECIDED]
    first = [*decided, *could_fail, *findings][0]
    return [f"“{first.claim.removesuffix('.')}” ", number(_words(first.verdict, 1)), "."]


def tally(findings: Sequence[Finding]) -> Sentence:
    """How many textbook claims hold, how many misconceptions; what holds by construction apart."""
    kinds = {said: [each for each in findings if each.said is said] for said in Said}
    taught, thought, made = (kinds[said] for said in Said)
    told: list[Sentence] = []
    if taught:
        told.append(_counted("Of {} textbook claims, ", "The one textbook claim ", taught))
    if thought:
        many, one = "Of {} that people often think, ", "The one that people often think "
        told.append(_counted(many, one, thought))
    if made:
        more = " more" if told else " claim" + "s" * (len(made) != 1)
        told.append([f"{len(made)}{more} {'holds' if len(made) == 1 else 'hold'} by construction."])
    return [part for place, each in enumerate(told) for part in ([" "] if place else []) + each]


def _counted(many: str, one: str, findings: Sequence[Finding]) -> Sentence:
    """How many hold, how many do not, how many under a condition."""
    total = len(findings)
    if total == 1:
        return [one, number(_words(findings[0].verdict, 1)), "."]
    counts = Counter(sorted((finding.verdict for finding in findings), key=list(Verdict).index))
    parts: Sentence = []
    for place, (verdict, n) in enumerate(counts.items()):
        if place:
            parts.append(" and " if place == len(counts) - 1 else ", ")
        counted = f"{n} {_words(verdict, n)}"
        parts.append(counted if place else number(counted))
    return [many.format(total), *parts, "."]


def _words(verdict: Verdict, n: int) -> str:
    one = n == 1
    return {
        Verdict.HOLDS: "holds" if one else "hold",
        Verdict.ONLY_IF: f"{'holds' if one else 'hold'} only under a condition",
        Verdict.FAILS: "does not hold" if one else "do not hold",
        Verdict.UNDECIDED: "cannot be decided here",
    }[verdict]
