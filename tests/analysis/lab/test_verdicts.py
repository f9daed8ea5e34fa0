"""A verdict follows from its numbers, and from nothing else."""

import math

import pytest

from ffnviz.analysis.lab.experiment import Check, Finding, Verdict


@pytest.mark.parametrize(
    ("check", "passed", "text"),
    [
        (Check(1, "≤", 1), True, "1 ≤ 1"),
        (Check(2, "≤", 1, "nats"), False, "2 > 1 nats"),
        (Check(2, ">", 1), True, "2 > 1"),
        (Check(1, ">", 1), False, "1 ≤ 1"),
        (Check(math.nan, "≤", 1), False, "nan > 1"),
        (Check(math.nan, ">", 1), False, "nan ≤ 1"),
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
        (Check(0, "≤", 1), None, "no", Verdict.UNDECIDED, "cannot be told here: no"),
    ],
)
def test_a_verdict_follows_from_the_checks(
    check: Check, under: Check | None, untestable: str, verdict: Verdict, text: str
) -> None:
    finding = Finding("claim", "expected", "measured", check, "it rains", under, untestable)
    assert finding.verdict is verdict
    assert finding.verdict_text == text
