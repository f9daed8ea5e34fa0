"""A verdict follows from its numbers, and these from rounding, chance and trainings alone."""

import json
import math
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.lab import tolerances
from ffnviz.analysis.lab.experiment import BOUND, Check, Finding, Said, Verdict
from ffnviz.analysis.lab.trained import QUESTIONS, Question, Trained, compare_trainings
from ffnviz.analysis.number_format import short
from ffnviz.analysis.trainings import (
    COLUMNS,
    FAMILIES,
    SEEDS,
    STEPS,
    StudyError,
    read_table,
    trainings,
    written,
)
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.parts.experiments import found, tally
from ffnviz.pictures.wording import as_text as told
from ffnviz.training.learn.variants import VARIANTS
from tests.analysis.trainings.rows import ROW


@pytest.mark.parametrize(
    ("check", "passed", "text"),
    [
        (Check(1, "≤", 1), True, "1, no more than 1"),
        (Check(2, "≤", 1, "nats"), False, "2 nats, more than the 1 nats allowed"),
        (Check(2, ">", 1), True, "2, more than 1"),
        (Check(1, ">", 1), False, "1, not more than 1"),
        (Check(0, "≤", 0), True, "exactly 0"),
        (Check(1.376, "≤", 0), False, "1.38, not 0"),
        (Check(5.5e-5, "≤", 1, BOUND), True, "0.0055% of what rounding may cause"),
        (Check(0, "≤", 1, BOUND), True, "0% of what rounding may cause"),
        (Check(12, "≤", 1, BOUND), False, "12 times what rounding may cause"),
        (Check(1, "≤", 0, words=("it stays", "it changes")), False, "it changes"),
        (Check(0, "≤", 0, words=("it stays", "it changes")), True, "it stays"),
        (Check(math.nan, "≤", 1), False, "nan, more than the 1 allowed"),
        (Check(math.nan, ">", 1), False, "nan, not more than 1"),
    ],
)
def test_a_check_says_what_is_true(check: Check, passed: bool, text: str) -> None:
    assert check.passed is passed
    assert str(check) == text


@pytest.mark.parametrize(
    ("check", "under", "untestable", "verdict", "text"),
    [
        (Check(0, "≤", 1), None, "", Verdict.HOLDS, "holds"),
        (Check(2, "≤", 1), None, "", Verdict.FAILS, "does not hold"),
        (Check(2, "≤", 1), Check(0, "≤", 1), "", Verdict.ONLY_IF, "holds only if it rains"),
        (Check(2, "≤", 1), Check(2, "≤", 1), "", Verdict.FAILS, "does not hold"),
        (Check(0, "≤", 1), Check(2, "≤", 1), "", Verdict.HOLDS, "holds"),
        (Check(0, "≤", 1), None, "no", Verdict.UNDECIDED, "cannot be decided here: no"),
    ],
)
def test_a_verdict_follows_from_the_checks(
    check: Check, under: Check | None, untestable: str, verdict: Verdict, text: str
) -> None:
    finding = Finding("claim", "expected", "measured", check, "it rains", under, untestable)
    assert finding.verdict is verdict
    assert finding.verdict_text == text


def test_what_can_only_be_refuted_is_never_said_to_hold() -> None:
    seen, refuted = (
        Finding("claim", "", "", Check(value, "≤", 1), unproved="it proves none")
        for value in (0, 2)
    )
    assert seen.verdict is Verdict.UNDECIDED
    assert seen.verdict_text == "cannot be decided here: it proves none"
    assert refuted.verdict is Verdict.FAILS


def test_the_tally_counts_what_textbooks_say_and_names_the_rest_apart() -> None:
    holds, fails = Check(0, "≤", 1), Check(2, "≤", 1)
    taught = [Finding("a", "", "", check) for check in (holds, holds, fails)]
    thought = Finding("b", "", "", fails, said=Said.PEOPLE)

    assert told(tally([*taught, thought])) == (
        "Of 3 textbook claims, 2 hold and 1 does not hold. The one common belief does not hold."
    )
    made = Finding("c.", "", "", holds).by_construction("it must")
    assert (made.verdict_text, made.said) == ("holds by construction: it must", Said.CONSTRUCTION)
    assert told(tally([taught[0], made, made])) == (
        "The one textbook claim holds. 2 other claims hold by construction."
    )
    assert told(tally([made])) == "1 claim holds by construction."
    assert told(found([made, Finding("It rains.", "", "", fails)])) == "“It rains” does not hold."
    undecided = Finding("It snows.", "", "", holds, untestable="it is dark")
    assert told(found([made, undecided, taught[0]])) == "“a” holds."
    assert told(found([made])) == "“c” holds."
    assert told(tally(taught)) == "Of 3 textbook claims, 2 hold and 1 does not hold."
    assert told(tally([*taught, thought, thought])) == (
        "Of 3 textbook claims, 2 hold and 1 does not hold. Of 2 common beliefs, 2 do not hold."
    )


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_a_trend_by_chance_is_what_counting_all_orders_gives(n: int) -> None:
    trends = [
        sum(int(np.sign(a - b)) for k, a in enumerate(order) for b in order[k + 1 :])
        for order in permutations(range(n))
    ]
    limit = tolerances.trend_by_chance(n)
    assert np.mean([trend > limit for trend in trends]) <= tolerances.FALSE_ALARM
    assert np.mean([trend > limit - 2 for trend in trends]) > tolerances.FALSE_ALARM


def test_strays_are_the_normal_distributions_and_only_many_that_agree_decide() -> None:
    expected = NormalDist().inv_cdf(1 - tolerances.FALSE_ALARM / 2)
    assert tolerances.strays() == pytest.approx(expected)
    ones = np.ones(10)
    assert tolerances.agreed(ones) == tolerances.agreed(-ones) == ""
    assert tolerances.agreed(np.append(ones, -1.0)) == "it is so in 10 of 11 draws"
    assert tolerances.agreed(ones[:9]) == "it takes 10 draws that agree, and there are 9"
    assert tolerances.agreed(ones[:1]).endswith("draws that agree, and there is 1")


@given(
    st.integers(0, 10_000),
    st.sampled_from(["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "identity"]),
)
@torch.inference_mode()
def test_float32_stays_within_half_the_bound_of_float64(seed: int, activation: str) -> None:
    torch.manual_seed(seed)
    ffn, x = FeedForward(24, 40, activation), 3 * torch.randn(7, 24)
    single = ffn(x).output.double()
    bound = tolerances.ffn_bound(ffn, x).double()
    exact = ffn.double()(x.double()).output
    assert ((single - exact).abs() <= bound / 2).all()
    assert bound.max() < 1e-2 * exact.abs().max().clamp_min(1.0)


@torch.inference_mode()
def test_a_linear_layers_bound_is_the_textbooks() -> None:
    layer = torch.nn.Linear(3, 2)
    layer.weight.data = torch.tensor([[1.0, -2.0, 0.5], [0.0, 1.0, 1.0]])
    layer.bias.data = torch.tensor([0.25, -1.0])
    unit = 2.0**-24
    expected = 4 * unit / (1 - 4 * unit) * torch.tensor([[1 + 4 + 1.5 + 0.25, 2 + 3 + 1.0]])
    torch.testing.assert_close(
        tolerances.linear_bound(layer, torch.tensor([[1.0, 2.0, -3.0]])), expected
    )
    assert (
        tolerances.gamma(10, torch.float32)
        > tolerances.gamma(5, torch.float32)
        > tolerances.gamma(10, torch.float64)
    )


@given(st.integers(0, 10_000))
def test_a_product_of_matrices_stays_within_its_bound(seed: int) -> None:
    torch.manual_seed(seed)
    a, b, c = torch.randn(5, 9), torch.randn(9, 6), torch.randn(6, 4)
    exact = a.double() @ b.double() @ c.double()
    assert float(((a @ b @ c).double() - exact).norm()) <= tolerances.product_bound([a, b, c])


CLAIMED = [each for each in QUESTIONS if each.claim]
CLEAR = [0.1 + 0.001 * k for k in range(SEEDS)]


def compared(differences: dict[Question, list[float]]) -> Trained:
    """What pairs say whose losses differ by so much."""
    whole = {q.base for q in QUESTIONS} - {question.variant for question in differences}
    losses = {(name, seed): ROW.loss for name in whole for seed in range(SEEDS)}
    for question, each in differences.items():
        losses |= {(question.variant, n): ROW.loss + off for n, off in enumerate(each)}
    return compare_trainings(rows=[
        replace(ROW, variant=name, seed=seed, loss=loss) for (name, seed), loss in losses.items()
    ])  # fmt: skip


def judged(question: Question, differences: list[float]) -> Finding:
    """The verdict on one claim."""
    found = compared({question: differences}).findings
    return next(each for each in found if each.claim == question.claim)


@pytest.mark.parametrize("question", CLAIMED, ids=[each.variant for each in CLAIMED])
def test_a_claim_holds_fails_or_stays_open_with_the_pairs(question: Question) -> None:
    better = [-each for each in CLEAR]
    holds, fails = (better, CLEAR) if question.better else (CLEAR, better)
    assert judged(question, holds).verdict is Verdict.HOLDS
    assert judged(question, fails).verdict is Verdict.FAILS
    assert judged(question, [0.1, -0.1] * (SEEDS // 2)).verdict is Verdict.UNDECIDED
    few = judged(question, holds[:-1])
    assert few.verdict is Verdict.UNDECIDED
    assert f"{SEEDS - 1} of {SEEDS} seeds done" in few.verdict_text


def test_the_questions_and_the_log_are_of_variants_that_can_be_trained() -> None:
    asked = {each.variant for each in QUESTIONS} | {each.base for each in QUESTIONS}
    assert asked == {*VARIANTS} == {name for family in FAMILIES for name in family}
    rows = trainings()
    assert {row.variant for row in rows} <= {*VARIANTS}
    assert all(0 < row.loss < 8 and 0 <= row.top5 <= 1 for row in rows)
    nothing = compare_trainings(rows=[])
    assert nothing.findings == ()
    assert {each.pairs for each in nothing.answered} == {None}


def test_a_difference_must_be_clear_beside_all_of_its_family() -> None:
    """t = 3.96 on 7: p = 0.0054, below 0.01 alone, above it among seven."""
    spread = np.array([1.0, -1.0] * (SEEDS // 2)) / np.sqrt(SEEDS / (SEEDS - 1))
    question, differences = CLAIMED[0], (3.96 / np.sqrt(SEEDS) + spread).tolist()
    family = next(family for family in FAMILIES if question.variant in family)
    beside = [q for q in QUESTIONS if q.variant in family and q != question]
    assert len(beside) == 6
    clear = dict.fromkeys(beside, CLEAR)  # all others are decided: the last is alone
    for others, decided, p in (({}, False, 7 * 0.00544), (clear, True, 0.00544)):
        found = compared({question: differences, **others}).of(question.variant)
        assert found is not None
        assert found.complete
        assert found.decided is decided
        assert found.p == pytest.approx(p, rel=5e-3)


@pytest.mark.parametrize("differences", [CLEAR, CLEAR[:3], [0.1, -0.1, 0.1], [0.1]])
def test_what_was_measured_is_said_in_full(differences: list[float]) -> None:
    found = judged(CLAIMED[0], differences)
    assert "nan" not in found.measured
    json.dumps(found.check.value, allow_nan=False)
    higher = int(np.sum(np.array(differences) > 0))
    assert f"higher in {higher} of {len(differences)} pairs" in found.measured
    assert "learning rate 0.004 against 0.004" in found.measured
    if len(differences) == SEEDS:
        assert f"after {STEPS:,} steps, with {SEEDS} seeds" in found.verdict_text
        assert "p = " in found.measured


def test_a_log_is_read_as_it_was_written_and_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [ROW, replace(ROW, variant="gelu", processor='An "old", slow one')]
    path.write_bytes(written([*rows, ROW]))
    assert read_table(path) == rows
    for text in ("a,b\n1,2\n", ",".join(COLUMNS) + "\nrelu,x\n"):
        path.write_text(text)
        with pytest.raises(StudyError, match="choose another file"):
            read_table(path)


def test_a_number_is_as_long_as_it_must_be() -> None:
    for value, text in (
        (0, "0"),
        (-1.26e-15, "−1.3 × 10⁻¹⁵"),
        (0.01234, "0.012"),
        (29.4, "29"),
        (12_345.6, "12,346"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ):
        assert short(value, digits=2) == text
    assert short(2.5e7, digits=1) == "2 × 10⁷"


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(1, 6))
def test_what_is_written_is_the_number(value: float, digits: int) -> None:
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    mantissa, _, power = short(value, digits).replace(",", "").partition(" × 10")
    read = float(mantissa) * 10.0 ** int(power.translate(raised) or 0)
    assert math.isclose(read, value, rel_tol=0.6 * 10 ** (1 - digits))
