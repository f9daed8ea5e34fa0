"""What a network needs: small ones trained with and without it, in pairs of one seed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ffnviz.analysis.lab.chance import FALSE_ALARM
from ffnviz.analysis.lab.experiment import Check, Finding, Result, Said, Subject
from ffnviz.analysis.number_format import short
from ffnviz.analysis.trainings.pairs import Pairs
from ffnviz.analysis.trainings.pairs import pairs as pairs_of
from ffnviz.analysis.trainings.table import Row, trainings

WHERE = "at this size, on this text"
ALIKE = 0.01  # the largest relative difference of parameter counts that is not mentioned


@dataclass(frozen=True)
class Question:
    """One difference between two kinds of trainings.

    Attributes:
        name: of the variant, on an axis.
        variant, base: their names in the table.
        claim: about the variant; empty if there is none.
        better: whether the claim is that it is better than the base, and not worse.
        published: what others found.
        said: who makes the claim.
    """

    name: str
    variant: str
    base: str = "relu"
    claim: str = ""
    better: bool = False
    published: str = ""
    said: Said = Said.TEXTBOOKS


QUESTIONS = (
    Question("no φ", "identity", claim="Trained without φ, a network learns less."),
    Question("GELU", "gelu", claim="GELU trains better than ReLU.", better=True,
             published="ReLU 1.997 and GELU 1.983 after 65,536 steps, 1.677 and 1.679 at the end "
             "(Shazeer 2020); both 1.838 (Narang et al. 2021)"),
    Question("SwiGLU", "swiglu", claim="SwiGLU trains better than ReLU.", better=True),
    Question("no FFN", "no-ffn", claim="Trained without FFNs, a network learns less."),
    Question("attention, no FFN", "attention-only",
             claim="FFNs are worth more than as many parameters of further attention."),
    Question("one FFN for both blocks", "shared-ffn",
             claim="Each block needs an FFN of its own."),
    Question("d_ff × ½", "half"),
    Question("d_ff × 2", "double", claim="Twice as wide FFNs learn more.", better=True),
    Question("d_ff × 4", "quadruple"),
    Question("d_ff × 8", "eightfold"),
    Question("1 block, d_ff × 2.5", "one-block",
             claim="One block with a wide FFN learns less than two blocks of as many parameters."),
    Question("4 blocks, d_ff × ¼", "four-blocks", better=True,
             claim="Four blocks with narrow FFNs learn more than two of as many parameters."),
    Question("no residual", "no-residual",
             claim="Trained without residual connections, a network learns less."),
    Question("no LayerNorm", "no-norm", claim="Trained without LayerNorm, a network learns less."),
    Question("post-LayerNorm", "post-norm",
             claim="Pre-LayerNorm trains better than post-LayerNorm."),
    Question("dropout", "dropout", said=Said.PEOPLE, better=True,
             claim="Dropout helps where sentences are many."),
    Question("dropout, few sentences", "few-dropout", "few", better=True,
             claim="Dropout helps where sentences are few."),
)  # fmt: skip


@dataclass(frozen=True)
class Answered:
    """A question, and the trainings that answer it."""

    question: Question
    pairs: Pairs | None  # None if there are none


@dataclass(frozen=True)
class Trained(Result):
    """All questions."""

    answered: tuple[Answered, ...]


def compare_trainings(_: Subject | None = None, rows: Sequence[Row] | None = None) -> Trained:
    """All questions answered by the package's trainings, or others; the sentence is not used."""
    table = trainings() if rows is None else rows
    answered = tuple(Answered(each, pairs_of(table, each.variant, each.base)) for each in QUESTIONS)
    findings = tuple(
        _finding(each.question, each.pairs) for each in answered if each.question.claim
    )
    return Trained(answered, findings=findings)


def _finding(question: Question, pairs: Pairs | None) -> Finding:
    """The verdict: the mean difference against its interval, which fails once in 1,000 times."""
    lower = question.better
    expected = f"a {'lower' if lower else 'higher'} loss in pair after pair of trainings"
    if pairs is None:
        return Finding(
            question.claim, expected, "nothing was measured", Check(0.0, ">", 0.0),
            said=question.said, untestable="the table has no such trainings",
        )  # fmt: skip
    low, high = pairs.interval(FALSE_ALARM)
    effect = -pairs.effect if lower else pairs.effect
    reach = (high - low) / 2 if math.isfinite(high) else 0.0
    seeds = f"{pairs.n} seed{'s' * (pairs.n != 1)}"
    return Finding(
        question.claim,
        expected,
        _described(question, pairs),
        Check(effect, ">", reach, "nats"),
        untestable=f"{WHERE}, {seeds} leave{'s' * (pairs.n == 1)} it open" if low <= 0 <= high
        else "",
        said=question.said,
        scope=f"{WHERE}, by {seeds}",
    )  # fmt: skip


def _described(question: Question, pairs: Pairs) -> str:
    """The losses, the effect and its interval, the pairs, the sign test, and what others found."""
    one, other = pairs.losses.mean(axis=1)
    base = "the usual network" if question.base == "relu" else "without it"
    words = [f"{question.name}: loss {one:.3f} nats, {base} {other:.3f}"]
    if pairs.n > 1:
        low, high = map(signed, pairs.interval(FALSE_ALARM))
        words.append(
            f"{signed(pairs.effect)} on average, {1 - FALSE_ALARM:.1%} interval {low} to {high}"
        )
    test = f"(sign test: p = {short(pairs.sign_p)})"
    words.append(f"higher in {pairs.higher} of {pairs.n} pairs {test}")
    own, usual = pairs.parameters
    if abs(own / usual - 1) > ALIKE:
        words.append(f"{own:,} parameters against {usual:,}")
    if question.published:
        words.append(f"published: {question.published}")
    return "; ".join(words)


def signed(nats: float) -> str:
    """A difference with its sign."""
    return f"{nats:+.3f}".replace("-", "−")
