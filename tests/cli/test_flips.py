"""`ffnviz flips` as a person or a script would call it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ffnviz.app.page_controls import read_examples
from ffnviz.cli import main


def test_the_sentences_of_a_file_are_searched(tmp_path: Path) -> None:
    path = tmp_path / "sentences.txt"
    example = next(each for each in read_examples() if each.says)  # which both twins flip
    sentence = example.sentence.replace("[MASK]", example.says)
    path.write_text(f"{sentence}\n\nThe cat sat.\n", encoding="utf-8")
    arguments = ["flips", "--sentences", str(path), "--least", "0.05"]
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 0, told.output
    assert "found in 2 sentences" in told.stdout
    assert f"{example.sentence}\n    relu {example.says}" in told.stdout
    report = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    flip = next(f for f in report["flips"] if f["word"] == example.says)
    for twin in ("relu", "gelu"):
        assert flip["with_ffn"][twin]["word"] == example.says
        assert flip["with_ffn"][twin]["probability"] >= 0.05
        assert flip["without"][twin]["word"] == example.without


@pytest.mark.parametrize(
    "option",
    [
        "flips --least",
        "index --cpus-per-worker",
        "learn --minutes",
        "app --train-minutes",
        "train --keep",
    ],
)
def test_what_is_no_number_is_in_no_range(option: str) -> None:
    for value in ("nan", "-nan", "inf"):
        told = CliRunner().invoke(main, [*option.split(), value])
        assert told.exit_code == 2, told.output
        assert "nan is not in the range 0" in told.output or value == "inf"


def test_what_is_no_text_is_answered_in_words(tmp_path: Path) -> None:
    path = tmp_path / "sentences.txt"
    path.write_bytes(b"\xff\xfe\xfd")
    for wrong in (str(path), str(tmp_path / "none.txt")):
        told = CliRunner().invoke(main, ["flips", "--sentences", wrong])
        assert told.exit_code != 0
        assert "sentences.txt cannot be read as text" in told.output or "not exist" in told.output
        assert "Traceback" not in told.output
