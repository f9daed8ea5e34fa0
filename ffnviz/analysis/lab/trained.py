"""What a network needs: small ones trained with and without it, in pairs of one seed.

Stated before the first run: two variants differ if the paired t-test over eight seeds says so at
α = 0.01, after Holm's correction over their family's comparisons; until then p counts as 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ffnviz.analysis.lab.experiment import Check, Finding, Result, Said, Subject
from ffnviz.analysis.number_format import short
from ffnviz.analysis.trainings import FAMILIES, SEEDS, STEPS, Pairs, Row, holm, trainings
from ffnviz.analysis.trainings import pairs as pairs_of

ALPHA = 0.01
SCOPE = f"at d_model 64 on everyday sentences, after {STEPS:,} steps, with {SEEDS} seeds"
ALIKE = 0.01  # the largest relative difference of parameter counts that is not mentioned


@dataclass(frozen=True)
class Question:
    """One difference between two kinds of trainings."""

    name: str  # of the variant, on an axis
    variant: str  # its name in the log
    base: str = "relu"  # that of the other kind
    claim: str = ""  # about the variant; empty if there is none
    better: bool = False  # whether the claim is that it is better than the base, and not worse
    published: str = ""  # what others found
    said: Said = Said.TEXTBOOKS  # who makes the claim
    source: str = ""  # where one reads it, if textbooks or papers make it


QUESTIONS = (
    Question("no FFN", "no-ffn", claim="Trained without FFNs, a network learns less.",
             source="Dong, Cordonnier & Loukas 2021"),
    Question("no φ", "identity", claim="Trained without φ, a network learns less.",
             source="Goodfellow, Bengio & Courville 2016, section 6.1"),
    Question("no residual", "no-residual",
             claim="Trained without residual connections, a network learns less.",
             source="He et al. 2016"),
    Question("no LayerNorm", "no-norm", claim="Trained without LayerNorm, a network learns less.",
             source="Ba, Kiros & Hinton 2016"),
    Question("d_ff × ½", "half", said=Said.PEOPLE,
             claim="A network with FFNs half as wide learns less."),
    Question("d_ff × 2", "double", better=True, said=Said.PEOPLE,
             claim="A network with FFNs twice as wide learns more."),
    Question("GELU", "gelu", claim="GELU trains better than ReLU.", better=True,
             source="Hendrycks & Gimpel 2016",
             published="ReLU 1.997 and GELU 1.983 after 65,536 steps, 1.677 and 1.679 at the end "
             "(Shazeer 2020); both 1.838 (Narang et al. 2021)"),
    Question("one FFN for both blocks", "shared-ffn", said=Said.PEOPLE,
             claim="Each block needs an FFN of its own."),
    Question("attention, no FFN", "attention-only", said=Said.PEOPLE,
             claim="FFNs are worth more than the same number of parameters in attention."),
    Question("1 block, d_ff × 2.5", "one-block", said=Said.PEOPLE,
             claim="One block with a wide FFN learns less than two blocks with the same number of "
             "parameters."),
    Question("4 blocks, d_ff × ¼", "four-blocks", better=True, said=Said.PEOPLE,
             claim="Four blocks with narrow FFNs learn more than two with the same number of "
             "parameters."),
    Question("SwiGLU", "swiglu", claim="SwiGLU trains better than ReLU.", better=True,
             source="Shazeer 2020"),
    Question("d_ff × 4", "quadruple"),
    Question("GELU at d_ff × ½", "gelu-half", "half", better=True, said=Said.PEOPLE,
             claim="In narrow FFNs GELU trains better than ReLU."),
    Question("GELU at d_ff × 4", "gelu-quadruple", "quadruple", better=True, said=Said.PEOPLE,
             claim="In wide FFNs GELU trains better than ReLU."),
    Question("d_ff × 8", "eightfold"),
    Question("post-LayerNorm", "post-norm",
             claim="Pre-LayerNorm trains better than post-LayerNorm.", source="Xiong et al. 2020"),
    Question("dropout", "dropout", said=Said.PEOPLE, better=True,
             claim="Dropout helps where there is much text."),
    Question("dropout, few sentences", "few-dropout", "few", better=True,
             claim="Dropout helps where there is little text.", source="Srivastava et al. 2014"),
)  # fmt: skip


@dataclass(frozen=True)
class Answered:
    """A question, and the trainings that answer it."""

    question: Question
    pairs: Pairs | None  # None if there are none
    p: float  # corrected over the family; 1 as long as a seed is missing

    @property
    def complete(self) -> bool:
        """Whether it has all its seeds."""
        return self.pairs is not None and self.pairs.n >= SEEDS

    @property
    def decided(self) -> bool:
        """Whether the two variants differ by more than chance."""
        return self.p <= ALPHA

    @property
    def so_far(self) -> str:
        """How many of its pairs are trained."""
        return f"{self.pairs.n if self.pairs else 0} of {SEEDS} seeds done"


@dataclass(frozen=True)
class Trained(Result):
    """All questions."""

    answered: tuple[Answered, ...]

    def of(self, variant: str) -> Answered | None:
        """The answer about a variant; None if nobody asks."""
        return next((each for each in self.answered if each.question.variant == variant), None)


def compare_trainings(_: Subject | None = None, rows: Sequence[Row] | None = None) -> Trained:
    """All questions answered by the package's trainings, or others; the sentence is not used."""
    table = trainings() if rows is None else rows
    answered: list[Answered] = []
    for family in FAMILIES:
        questions = [each for each in QUESTIONS if each.variant in family]
        found = [pairs_of(table, each.variant, each.base) for each in questions]
        ps = holm([pairs.p if pairs and pairs.n >= SEEDS else 1.0 for pairs in found])
        answered += map(Answered, questions, found, ps)
    answered.sort(key=lambda each: QUESTIONS.index(each.question))
    findings = tuple(
        _finding(each, each.pairs) for each in answered if each.question.claim and each.pairs
    )
    return Trained(tuple(answered), findings=findings)


def _finding(answered: Answered, pairs: Pairs) -> Finding:
    """The verdict: the sign of the mean difference, if the test decides it."""
    question = answered.question
    effect = -pairs.effect if question.better else pairs.effect
    open_ = f"p = {short(answered.p)} leaves it open {SCOPE}"
    return Finding(
        question.claim,
        f"a {'lower' if question.better else 'higher'} loss, by more than chance allows",
        _described(answered, pairs),
        Check(effect, ">", 0.0, "nats"),
        untestable="" if answered.decided else open_ if answered.complete else answered.so_far,
        said=question.said,
        scope=SCOPE,
        source=question.source,
    )


def _described(answered: Answered, pairs: Pairs) -> str:
    """The losses, the effect and its interval, the test, the rates, and what others found."""
    question = answered.question
    one, other = pairs.losses.mean(axis=1)
    base = {"relu": "the usual network", "few": "without it"}.get(question.base, "ReLU")
    words = [f"{question.name}: loss {one:.3f} nats, {base} {other:.3f}"]
    if pairs.n > 1:
        low, high = map(signed, pairs.interval(ALPHA))
        words.append(f"{signed(pairs.effect)} on average, {1 - ALPHA:.0%} interval {low} to {high}")
    words.append(f"higher in {pairs.higher} of {pairs.n} pairs")
    if answered.complete:
        words.append(f"p = {short(answered.p)} by the paired t-test")
    words.append(f"learning rate {pairs.rates[0]:g} against {pairs.rates[1]:g}")
    own, usual = pairs.parameters
    if abs(own / usual - 1) > ALIKE:
        words.append(f"{own:,} parameters against {usual:,}")
    if question.published:
        words.append(f"published: {question.published}")
    return "; ".join(words)


def signed(nats: float) -> str:
    """A difference with its sign."""
    return f"{nats:+.3f}".replace("-", "−")
