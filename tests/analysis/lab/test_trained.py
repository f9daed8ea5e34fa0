"""What trainings say of a claim: it flips with the sign, and few or mixed ones leave it open."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ffnviz.analysis.lab.experiment import Finding, Verdict
from ffnviz.analysis.lab.trained import QUESTIONS, Answered, Question, Trained, compare_trainings
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
from ffnviz.training.learn.variants import VARIANTS
from tests.analysis.trainings.rows import ROW

CLAIMED = [each for each in QUESTIONS if each.claim]
CLEAR = [0.1 + 0.001 * k for k in range(SEEDS)]


def compared(differences: dict[Question, list[float]]) -> Trained:
    """What pairs say whose losses differ by so much."""
    rows = [replace(ROW, variant=name, seed=seed) for name in VARIANTS for seed in range(SEEDS)]
    changed = {
        (question.variant, seed): difference
        for question, each in differences.items()
        for seed, difference in enumerate(each)
    }
    whole = {q.base for q in QUESTIONS} - {question.variant for question in differences}
    return compare_trainings(rows=[
        replace(row, loss=row.loss + changed.get((row.variant, row.seed), 0.0))
        for row in rows
        if row.variant in whole or (row.variant, row.seed) in changed
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


def test_nothing_trained_is_nothing_decided() -> None:
    found = compare_trainings(rows=[])
    assert found.findings == ()
    assert {each.pairs for each in found.answered} == {None}


def test_a_difference_must_be_clear_beside_all_of_its_family() -> None:
    """t = 3.96 on 7: p = 0.0054, below 0.01 alone, above it among seven."""
    spread = np.array([1.0, -1.0] * (SEEDS // 2)) / np.sqrt(SEEDS / (SEEDS - 1))
    differences = (3.96 / np.sqrt(SEEDS) + spread).tolist()
    question = CLAIMED[0]

    def answer(others: dict[Question, list[float]]) -> Answered:
        found = compared({question: differences, **others}).of(question.variant)
        assert found is not None
        assert found.complete
        return found

    family = next(family for family in FAMILIES if question.variant in family)
    beside = [q for q in QUESTIONS if q.variant in family and q != question]
    assert len(beside) == 6
    alone = answer({})
    assert not alone.decided
    assert alone.p == pytest.approx(7 * 0.00544, rel=5e-3)
    clear = answer(dict.fromkeys(beside, CLEAR))  # all others are decided: the last is alone
    assert clear.decided
    assert clear.p == pytest.approx(0.00544, rel=5e-3)


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


def test_the_questions_are_about_variants_that_can_be_trained() -> None:
    asked = {each.variant for each in QUESTIONS} | {each.base for each in QUESTIONS}
    assert asked == {*VARIANTS} == {name for family in FAMILIES for name in family}


def test_the_log_of_the_package_is_of_these_variants() -> None:
    rows = trainings()
    assert {row.variant for row in rows} <= {*VARIANTS}
    assert all(0 < row.loss < 8 and 0 <= row.top5 <= 1 for row in rows)


def test_a_log_is_read_as_it_was_written_and_another_file_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "log.csv"
    rows = [ROW, replace(ROW, variant="gelu", processor='An "old", slow one')]
    path.write_bytes(written([*rows, ROW]))
    assert read_table(path) == rows
    for text in ("a,b\n1,2\n", ",".join(COLUMNS) + "\nrelu,x\n"):
        path.write_text(text)
        with pytest.raises(StudyError, match="choose another file"):
            read_table(path)
