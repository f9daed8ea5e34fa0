"""What trainings say of a claim: it flips with the sign, and few or mixed ones leave it open."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ffnviz.analysis.lab.experiment import Finding, Verdict
from ffnviz.analysis.lab.trained import QUESTIONS, Question, compare_trainings
from ffnviz.analysis.trainings.table import COLUMNS, Row, StudyError, read_table, trainings
from ffnviz.training.learn.variants import VARIANTS

ROW = Row("relu", 0, 3_000, 230_144, 3.5, 0.5, 0.3, 0.1, 0.0, 0.0)
CLAIMED = [each for each in QUESTIONS if each.claim]


def judged(question: Question, differences: list[float]) -> Finding:
    """The verdict on one claim, of pairs whose losses differ by so much."""
    rows = [replace(ROW, variant=question.base, seed=seed) for seed in range(len(differences))]
    rows += [
        replace(row, variant=question.variant, loss=row.loss + difference)
        for row, difference in zip(rows, differences, strict=True)
    ]
    found = compare_trainings(rows=rows).findings
    return next(each for each in found if each.claim == question.claim)


@pytest.mark.parametrize("question", CLAIMED, ids=[each.variant for each in CLAIMED])
def test_a_claim_holds_fails_or_stays_open_with_the_pairs(question: Question) -> None:
    worse = [0.1 + 0.001 * k for k in range(10)]
    better = [-each for each in worse]
    holds, fails = (better, worse) if question.better else (worse, better)
    assert judged(question, holds).verdict is Verdict.HOLDS
    assert judged(question, fails).verdict is Verdict.FAILS
    assert judged(question, [0.1, -0.1] * 5).verdict is Verdict.UNDECIDED
    assert judged(question, []).verdict is Verdict.UNDECIDED
    one = judged(question, holds[:1])
    assert one.verdict is Verdict.UNDECIDED
    assert "1 seed leaves it open" in one.verdict_text


@pytest.mark.parametrize("differences", [[0.1, 0.11, 0.1, 0.09], [0.1, -0.1, 0.1], [0.1], []])
def test_each_verdict_says_where_and_by_how_many_seeds(differences: list[float]) -> None:
    found = judged(CLAIMED[0], differences)
    assert "nan" not in found.measured
    json.dumps(found.check.value, allow_nan=False)
    json.dumps(found.check.tolerance, allow_nan=False)
    if differences:
        seeds = f"{len(differences)} seed"
        assert "at this size, on this text" in found.verdict_text
        assert seeds in found.verdict_text
        higher = int(np.sum(np.array(differences) > 0))
        assert f"higher in {higher} of {len(differences)} pairs" in found.measured


def test_the_questions_are_about_variants_that_can_be_trained() -> None:
    assert {each.variant for each in QUESTIONS} | {each.base for each in QUESTIONS} == {*VARIANTS}


def test_the_table_of_the_package_is_of_these_variants() -> None:
    rows = trainings()
    assert rows
    assert {row.variant for row in rows} <= {*VARIANTS}
    assert len({(row.variant, row.seed, row.steps) for row in rows}) == len(rows)
    assert all(0 < row.loss < 8 and 0 <= row.top5 <= 1 for row in rows)


def test_another_table_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "other.csv"
    for text in ("a,b\n1,2\n", ",".join(COLUMNS) + "\nrelu,x\n"):
        path.write_text(text)
        with pytest.raises(StudyError, match="choose another file"):
            read_table(path)
