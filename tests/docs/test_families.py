"""docs/reference/families.md: a row for each family, and rows that say what is so."""

import re

import pytest

pytest.importorskip("transformers")

from benchmarks import families
from benchmarks.families import PAGE, page, rows


def test_three_families_and_one_that_does_not_exist() -> None:
    gpt2, bert, mixtral, gone = rows(["gpt2", "bert", "mixtral", "no-such-family"])
    assert (gpt2.outcome, gpt2.attention, gpt2.words) == ("opened", "all", "next")
    assert (bert.outcome, bert.attention, bert.words) == ("opened", "all", "hidden")
    for opened in (gpt2, bert):
        assert 0 <= opened.equations < 2e-5
        assert opened.results < 2e-5
    assert mixtral.outcome == "refused"
    assert "block 1 (from 1), E2: it is a mixture of 4 experts" in mixtral.why
    assert gone.outcome == "not built"
    assert "| mixtral | refused | | | | | it cannot be shown" in page([mixtral])


def test_the_page_has_every_family_once() -> None:
    written = PAGE.read_text(encoding="utf-8")
    there = re.findall(
        r"^\| (\S+) \| (?:opened|refused|not built|failed) \|", written, re.MULTILINE
    )
    assert there == families.families()
