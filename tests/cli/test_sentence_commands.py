"""`ffnviz lab`, `timing` and `flips`: what they print, and what they refuse in words."""

import json
import re
import sys
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import pytest

from ffnviz.analysis.lab import EXPERIMENTS
from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.lab.trained import compare_trainings
from ffnviz.app.page_controls import read_examples
from ffnviz.models.encoder.model import Model
from ffnviz.models.trace import Trace
from tests.commands import assert_refused, done, run


def both_ways(
    command: list[str], more: list[str], work: str, asked: Callable[..., Hashable]
) -> tuple[dict[str, Any], str]:
    """What a command prints with --json, and with more words: its work is done once for both."""
    module, known = sys.modules[f"ffnviz.cli.{command[0]}"], dict[Hashable, Any]()
    whole = getattr(module, work)

    def kept(*given: object) -> Any:
        key = asked(*given)
        if key not in known:
            known[key] = whole(*given)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, work, kept)
        report, listed = (done(*command, *words).stdout for words in (["--json"], more))
    return json.loads(report), listed


def claims_of(subject: Subject, _: object) -> Hashable:
    return subject.model.card.id, subject.trace.text, subject.block, subject.token


def test_json_and_list_hold_every_claim_with_its_numbers(model_folder: Path) -> None:
    asked = ["lab", "--model", str(model_folder), "--text", "The cat [MASK].", "--token", "3"]
    report, listed = both_ways([*asked, "--block", "1"], [], "try_all", claims_of)
    assert (report["network"], report["block"], report["token"]) == ("tiny", 1, 3)
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

    assert "token 3" in listed
    assert "✓ The FFN is two convolutions with kernel 1." in listed
    assert "holds only if attention's shares" in listed
    assert "✗ Often thought: A word gets the same FFN output wherever it stands." in listed
    claims = re.findall(r"^  [✓◐✗–] (Often thought: )?", listed, re.MULTILINE)
    made = listed.count("    holds by construction: ")
    taught = sum(not label for label in claims) - made
    assert f"What holds by construction: {made} claims: holds {made}" in listed
    assert f"What textbooks say: {taught} claims: holds " in listed
    assert f"What people often think: {len(claims) - taught - made} claims: " in listed


FEW = ["timing", "--repeats", "2", "--text", "The cat sat.", "--twin", "gelu", "--block", "1"]


def measured_of(model: Model, trace: Trace, block: int, repeats: int) -> Hashable:
    return model.name, trace.text, block, repeats


def test_json_and_tables_hold_every_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["ffnviz.cli.timing"], "GROWTH_RUNS", 2)
    report, tables = both_ways(FEW, [], "measure", measured_of)
    assert (report["twin"], report["block"], report["tokens"]) == ("gelu", 1, 4)
    total = sum(spread["median"] for spread in report["stages_ms"].values())
    assert report["stages_sum_ms"] == pytest.approx(total)
    assert report["whole_ms"]["repeats"] == 2
    assert report["convolution"]["largest_difference"] < 1e-3
    for product in report["products"]:
        share = product["per_second"] / report["best_per_second"]
        assert product["share_of_best"] == pytest.approx(share)
    for key in ("growth_with_tokens_ms", "growth_with_d_ff_ms"):
        for spreads in report[key]["times"].values():
            assert len(spreads) == len(report[key]["sizes"])

    stages = ("tokenise", "block 2 expand", "φ", "whole pass", "W₁ (expand)", "Conv1d")
    assert [name for name in (*stages, "PyTorch") if name not in tables] == []


def test_what_is_wrong_is_refused_in_words() -> None:
    assert_refused(run("lab", "--token", "99"), "there are 8 tokens, counted from 1")
    assert_refused(run("timing", "--repeats", "0"), "0 is not in the range")
    for command in ("lab", "timing"):
        assert_refused(run(command, "--text", ""), "The text is empty")
        assert_refused(run(command, "--block", "3"), "there are 2 blocks, counted from 1")
        assert_refused(run(command, "--device", "warp"), "cannot be used")
        assert_refused(run(command, "--twin", "tanh"), "'tanh' is not one of")
    shares = ("flips --least", "train --keep", "index --cpus-per-worker")
    for option in (*shares, "learn --minutes", "app --train-minutes"):
        for value in ("nan", "-nan", "inf"):
            told = run(*option.split(), value)
            assert_refused(told, "" if value == "inf" else "nan is not in the range 0")


def test_the_sentences_of_a_file_are_searched(tmp_path: Path) -> None:
    path = tmp_path / "sentences.txt"
    example = next(each for each in read_examples() if each.says)  # which both twins flip
    sentence = example.sentence.replace("[MASK]", example.says)
    path.write_text(f"{sentence}\n\nThe cat sat.\n", encoding="utf-8")
    arguments = ["flips", "--sentences", str(path), "--least", "0.05"]
    told = done(*arguments).stdout
    assert "found in 2 sentences" in told
    assert f"{example.sentence}\n    relu {example.says}" in told
    report = json.loads(done(*arguments, "--json").stdout)
    flip = next(f for f in report["flips"] if f["word"] == example.says)
    for twin in ("relu", "gelu"):
        assert flip["with_ffn"][twin]["word"] == example.says
        assert flip["with_ffn"][twin]["probability"] >= 0.05
        assert flip["without"][twin]["word"] == example.without
    path.write_bytes(b"\xff\xfe\xfd")
    wrong = {path: "sentences.txt cannot be read as text", tmp_path / "none.txt": "not exist"}
    for file, said in wrong.items():
        assert_refused(run("flips", "--sentences", file), said)
