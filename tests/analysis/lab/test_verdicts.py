"""A verdict follows from its numbers, and from nothing else."""

import math

import pytest

from ffnviz.analysis.lab.experiment import BOUND, Check, Finding, Said, Verdict
from ffnviz.parts.experiments import found, tally
from ffnviz.pictures.wording import as_text as told


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
