"""`ffnviz flips` as a person or a script would call it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ffnviz.cli import main


def test_the_sentences_of_a_file_are_searched(tmp_path: Path) -> None:
    path = tmp_path / "sentences.txt"
    path.write_text("He smiled for the first time that day.\n\nThe cat sat.\n", encoding="utf-8")
    arguments = ["flips", "--sentences", str(path), "--least", "0.3"]
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 0, told.output
    assert "found in 2 sentences" in told.stdout
    assert "He smiled for the [MASK] time that day.\n    relu first" in told.stdout
    report = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    flip = next(f for f in report["flips"] if f["word"] == "first")
    for twin in ("relu", "gelu"):
        assert flip["with_ffn"][twin]["word"] == "first"
        assert flip["with_ffn"][twin]["probability"] >= 0.3
        assert flip["without"][twin]["word"] != "first"


@pytest.mark.parametrize("option", ["flips --least", "index --cpus-per-worker"])
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
