"""`ffnviz learn` on the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import ffnviz
from ffnviz.cli import main

SHORT = ("learn", "--steps", "20", "--seed", "5")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_one_seed_gives_equal_bytes() -> None:
    command = (*SHORT, "--phi", "relu", "--against", "gelu", "--json")
    first = run(*command)
    assert run(*command) == first
    told = json.loads(first)
    assert list(told["networks"]) == ["relu", "gelu"]
    assert [noted["step"] for noted in told["networks"]["gelu"]] == [0, 10, 20]
    assert told["networks"]["relu"][0]["loss"] != told["networks"]["gelu"][0]["loss"]


def test_minutes_are_steps_whatever_the_clock_says() -> None:
    told = json.loads(run("learn", "--minutes", "0.01", "--json"))
    assert told["steps"] == 30


def test_what_is_saved_is_a_network_like_any_other(tmp_path: Path) -> None:
    said = run(*SHORT, "--out", str(tmp_path / "mine"))
    assert "held-out sentences" in said
    model = ffnviz.load(tmp_path / "mine")
    trace = model.trace("What [MASK] is it?")
    assert trace.blocks[1].ffn.hidden.shape == (5, 256)
    assert "CC BY 2.0 FR" in (tmp_path / "mine" / "MODEL_CARD.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--text", "No word is hidden."), "No word is hidden"),
        (("--against", "relu"), "the same network"),
        (("--against", "no-norm", "--out", "x"), "cannot be saved"),
        (("--steps", "0"), "not in the range"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(more: tuple[str, ...], why: str) -> None:
    done = CliRunner().invoke(main, [*SHORT, *more])
    assert done.exit_code != 0
    assert why in done.output
    assert "Traceback" not in done.output


def test_it_reads_a_text_of_ones_own_or_says_why_not(tmp_path: Path) -> None:
    path = tmp_path / "tale.txt"
    path.write_text("\n".join(f"The {n} bells of house {n} rang." for n in range(400)))
    own = json.loads(run(*SHORT, "--read", str(path), "--json"))
    assert (
        own["guessing_by_frequency"] != json.loads(run(*SHORT, "--json"))["guessing_by_frequency"]
    )
    path.write_bytes(b"\xff\xfe" * 9)
    refused = CliRunner().invoke(main, (*SHORT, "--read", str(path)))
    assert refused.exit_code == 1
    assert "cannot be read" in refused.output
    path.write_text("One. Two.")
    assert "needs at least 200" in CliRunner().invoke(main, (*SHORT, "--read", str(path))).output
