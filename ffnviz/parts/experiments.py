"""What the parts that test claims share: the subject of an experiment, and its verdicts."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ffnviz.analysis.lab.experiment import Finding, Said, Subject, Verdict
from ffnviz.analysis.lab.trained import ALPHA, SCOPE, Answered, signed
from ffnviz.analysis.trainings import STEPS
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array
from ffnviz.pictures.votes import Claim, verdicts_cell
from ffnviz.pictures.wording import Sentence, counted, listed, number
from ffnviz.state.run import Run

TOO_FAR = 2.5  # times as far as the second furthest: such a row is written, not drawn
ROW, FRAME = 34, 110  # pixels
BASES = {"relu": "the usual network", "few": "the same without dropout"}
EACH = f"d_model 64, everyday sentences, {STEPS:,} steps, each network at its own learning rate"


def difference(answered: Answered, label: str) -> Sentence:
    """What the trainings say of one variant, which has some."""
    pairs = answered.pairs
    assert pairs is not None  # noqa: S101
    base = BASES.get(answered.question.base, "ReLU at the same width")
    if not answered.complete:
        return f"{label}: {number(answered.so_far)}, too few to decide anything."
    if not answered.decided:
        return (
            f"{label}: the loss differs by {number(f'{abs(pairs.effect):.3f} nats')} from that of "
            f"{base}, perhaps by chance."
        )
    higher = number(f"{abs(pairs.effect):.3f} nats {'higher' if pairs.effect > 0 else 'lower'}")
    return f"{label}: the loss is {higher} than with {base}, {SCOPE}."


def trainings_chart(head: Head, answered: Sequence[Answered], key: str) -> Cell:
    """A row a comparison: a dot a seed, a diamond for the mean, a line for its 99% interval.

    Those that nobody has trained have no row.
    """
    trained = [(each.question.name, each.pairs) for each in answered if each.pairs is not None]
    reach = _reach([float(np.abs(pairs.differences).max()) for _, pairs in trained])
    dots, means, lines, notes = [], [], [], []
    for place, (name, pairs) in enumerate(trained):
        mean = float(pairs.differences.mean())
        beyond = "" if abs(mean) <= reach else "→ " if mean > 0 else "← "
        notes.append(_note(plot.escaped(name), place, 0, "left"))
        notes.append(_note(f"{beyond}<b>{signed(pairs.effect)}</b>", place, 1, "right"))
        if beyond:
            continue
        dots += [(difference, place) for difference in pairs.differences]
        means.append((mean, place))
        low, high = np.clip(pairs.interval(ALPHA), -reach, reach)
        lines += [(low, place), (high, place), (None, None)]
    colour = head.accent
    diamond = {"size": 14, "symbol": "diamond", "line": {"color": "@background", "width": 2}}
    drawn = plot.figure(
        [
            plot.line_trace("99% interval", *_xy(lines), "@text", 2, hoverinfo="none"),
            plot.dots("a seed", *_xy(dots), {"color": f"@{colour}/0.45", "size": 9},
                      hovertemplate="%{x:+.3f} nats<extra></extra>"),
            plot.dots("mean", *_xy(means), {"color": f"@{colour}", **diamond},
                      hovertemplate="%{x:+.3f} nats on average<extra></extra>"),
        ],
        # Names stand at the left of the axis, means at its right.
        plot.axis("loss against the usual network's, nats", range=[-reach, reach], nticks=4,
                  domain=[0.36, 0.84]),
        plot.row_axis(len(trained), showticklabels=False),
        annotations=notes,
        margin={"l": 16, "r": 16, "t": 40, "b": 56},
    )  # fmt: skip
    alt = "By how much each variant's loss is higher than the usual network's, seed by seed."
    return chart_cell(head, drawn, alt, key=key, height=FRAME + ROW * max(1, len(trained)))


def _reach(furthest: Sequence[float]) -> float:
    """As far as most rows go; one that goes much further would press the others together."""
    ordered = sorted(furthest)
    while len(ordered) > 1 and ordered[-1] > TOO_FAR * ordered[-2]:
        ordered.pop()
    return 1.15 * max(ordered[-1], 1e-3) if ordered else 1.0


def _note(text: str, place: int, x: float, anchor: str) -> dict[str, object]:
    at = {"x": x, "xref": "paper", "xanchor": anchor, "y": place, "yanchor": "middle"}
    return {"text": text, **at, "showarrow": False, "font": {"size": 16}}


def _xy(points: Sequence[tuple[float | None, float | None]]) -> tuple[Array, Array]:
    x, y = np.array(points, float).reshape(-1, 2).T
    return x, y


R = TypeVar("R")


def experiment_subject(run: Run) -> Subject:
    """The run's model, sentence, block and token, for an experiment."""
    return Subject(run.model, run.trace, run.state.block, run.token, run.subject.per_network)


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
        finding.claim,
        "constructed" if finding.because else finding.verdict.kind,
        finding.verdict.sign,
        finding.verdict_text,
        finding.expected,
        finding.measured,
        str(finding.check),
        str(finding.said),
        finding.verdict_text.removeprefix(str(finding.verdict)),
        "Often thought" if finding.said is Said.PEOPLE else finding.source,
    )


def verdicts_of(run: Run, note: str, findings: Sequence[Finding], under: Sentence = "") -> Cell:
    """One experiment's claims under what it found; below, their tally."""
    head = Head(found(findings), note, run.card.colour, under=f"{tally(findings)} {under}")
    groups = [("", [as_claim(finding) for finding in findings])]
    return verdicts_cell(head, groups, f"verdicts-{note}", dense=True)


def found(findings: Sequence[Finding]) -> Sentence:
    """The first claim that a test decides, with its verdict; else the first of all."""
    could_fail = [each for each in findings if each.said is not Said.CONSTRUCTION]
    decided = [each for each in could_fail if each.verdict is not Verdict.UNDECIDED]
    first = [*decided, *could_fail, *findings][0]
    return f"“{first.claim.removesuffix('.')}” {number(_words(first.verdict, 1))}."


def tally(findings: Sequence[Finding]) -> Sentence:
    """How many textbook claims hold, how many misconceptions; what holds by construction apart."""
    kinds = {said: [each for each in findings if each.said is said] for said in Said}
    taught, thought, made = (kinds[said] for said in Said)
    told: list[Sentence] = []
    if taught:
        told.append(_counted("Of {} textbook claims, ", "The one textbook claim ", taught))
    if thought:
        many, one = "Of {} common beliefs, ", "The one common belief "
        told.append(_counted(many, one, thought))
    if made:
        claims = counted(len(made), "other claim" if told else "claim")
        told.append(f"{claims} {'holds' if len(made) == 1 else 'hold'} by construction.")
    return " ".join(told)


def _counted(many: str, one: str, findings: Sequence[Finding]) -> Sentence:
    """How many hold, how many do not, how many under a condition."""
    total = len(findings)
    if total == 1:
        return f"{one}{number(_words(findings[0].verdict, 1))}."
    counts = Counter(sorted((finding.verdict for finding in findings), key=list(Verdict).index))
    first, *others = [f"{n} {_words(verdict, n)}" for verdict, n in counts.items()]
    return f"{many.format(total)}{listed([number(first), *others])}."


def _words(verdict: Verdict, n: int) -> str:
    one = n == 1
    return {
        Verdict.HOLDS: "holds" if one else "hold",
        Verdict.ONLY_IF: f"{'holds' if one else 'hold'} only under a condition",
        Verdict.FAILS: "does not hold" if one else "do not hold",
        Verdict.UNDECIDED: "cannot be decided here",
    }[verdict]
