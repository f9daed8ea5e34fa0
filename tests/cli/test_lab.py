"""`ffnviz lab` as a person or a script would call it."""

import re
import sys
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from ffnviz.analysis.lab import EXPERIMENTS, try_all
from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.lab.trained import compare_trainings
from ffnviz.cli import main
from tests.cli.once import json_of, once

ASKED = ["lab", "--twin", "gelu", "--block", "1", "--text", "The cat [MASK]."]


def claims_of(subject: Subject, _: object) -> tuple[object, ...]:
    return subject.model.card.id, subject.trace.text, subject.block, subject.token


@pytest.fixture(scope="module", autouse=True)
def _claims_are_tested_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["ffnviz.cli.lab"], "try_all", once(try_all, claims_of))
        yield


def test_json_holds_every_claim_with_its_numbers() -> None:
    report = json_of(ASKED)
    assert (report["twin"], report["block"], report["token"]) == ("gelu", 1, 3)
    named = list(dict.fromkeys(claim["experiment"] for claim in report["claims"]))
    # As long as no pair of small networks is trained, nothing is claimed of these.
    without = set() if compare_trainings().findings else {"trained"}
    assert named == [each.name for each in EXPERIMENTS if each.name not in without]
    for said, counts in report["counted"].items():
        mine = [claim["verdict"] for claim in report["claims"] if claim["said"] == said]
        assert counts == {verdict: mine.count(verdict) for verdict in counts}
    assert sum(map(len, report["counted"].values())) == 12
    for claim in report["claims"]:
        passed = {"≤": claim["value"] <= claim["tolerance"],
                  ">": claim["value"] > claim["tolerance"]}[claim["relation"]]  # fmt: skip
        if claim["verdict"] == "holds":
            assert passed
        if claim["verdict"] in ("does not hold", "holds only if"):
            assert not passed


def test_the_list_names_claims_and_verdicts() -> None:
    result = CliRunner().invoke(main, [*ASKED, "--token", "3"])
    assert result.exit_code == 0, result.output
    assert "token 3" in result.stdout
    assert "✓ The FFN is two convolutions with kernel 1." in result.stdout
    assert "holds only if attention's shares" in result.stdout
    assert "✗ Often thought: A word gets the same FFN output wherever it stands." in result.stdout
    claims = re.findall(r"^  [✓◐✗–] (Often thought: )?", result.stdout, re.MULTILINE)
    made = result.stdout.count("    holds by construction: ")
    taught = sum(not label for label in claims) - made
    assert f"What holds by construction: {made} claims: holds {made}" in result.stdout
    assert f"What textbooks say: {taught} claims: holds " in result.stdout
    assert f"What people often think: {len(claims) - taught - made} claims: " in result.stdout
