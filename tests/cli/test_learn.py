"""`ffnviz learn` and `ffnviz study` on the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import ffnviz
from ffnviz.analysis.trainings import FINAL, RATE, RATES, Row, read_table, search, written
from ffnviz.training.learn import study
from ffnviz.training.learn.learner import Learner
from tests.commands import assert_refused, done, run

SHORT = ("learn", "--steps", "10", "--seed", "5")


def told(*words: object) -> str:
    return done(*words).stdout


def test_one_seed_gives_equal_bytes_and_minutes_are_steps() -> None:
    command = (*SHORT, "--phi", "relu", "--against", "gelu", "--json")
    first = told(*command)
    assert told(*command) == first
    networks = json.loads(first)["networks"]
    assert list(networks) == ["relu", "gelu"]
    assert [noted["step"] for noted in networks["gelu"]] == [0, 10]
    assert networks["relu"][0]["loss"] != networks["gelu"][0]["loss"]
    assert json.loads(told("learn", "--minutes", 0.005, "--json"))["steps"] == 15


def test_what_is_saved_is_a_network_like_any_other(tmp_path: Path) -> None:
    assert "held-out sentences" in told(*SHORT, "--out", tmp_path / "mine")
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
    assert_refused(run(*SHORT, *more), why)


def test_it_reads_a_text_of_ones_own_or_says_why_not(tmp_path: Path) -> None:
    path = tmp_path / "tale.txt"
    path.write_text("\n".join(f"The {n} bells of house {n} rang." for n in range(400)))
    one_step = ("learn", "--steps", "1", "--json")
    own, everyday = (json.loads(told(*one_step, *more)) for more in (("--read", path), ()))
    assert own["guessing_by_frequency"] != everyday["guessing_by_frequency"]
    for content, why in ((b"\xff\xfe" * 9, "cannot be read"), (b"One. Two.", "at least 200")):
        path.write_bytes(content)
        assert_refused(run(*one_step, "--read", path), why)


every_batch = study._batches
SIX_STEPS = ("--steps", "6", "--variant", "relu", "--variant", "no-ffn")


def studied(out: Path, seeds: int) -> str:
    return told("study", "--out", out, "--seeds", seeds, "--afresh", *SIX_STEPS)


@pytest.fixture(autouse=True, scope="module")
def _few_sentences_are_measured() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "_batches", lambda *part: every_batch(*part)[:1])
        yield


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    out = tmp_path_factory.mktemp("study") / "log.csv"
    studied(out, 1)
    return read_table(out)


def test_variants_are_trained_at_their_best_rates_and_differ_in_the_ffns(log: list[Row]) -> None:
    assert [row.variant for row in log if row.phase == FINAL] == ["relu", "no-ffn"]
    for row in log:
        found = search(log, row.variant, 6)
        assert set(RATES) <= set(found.losses)
        assert row.phase == RATE or row.learning_rate == found.best
    relu, without = (row for row in log if row.phase == FINAL)
    assert relu.tokens == without.tokens > 6 * 500
    assert relu.parameters - without.parameters == 2 * (2 * 64 * 256 + 256 + 64)
    assert relu.loss != without.loss


def test_rates_and_losses_are_measured_on_different_sentences() -> None:
    def sentences(part: str) -> set[tuple[int, ...]]:
        rows = set()
        for batch in every_batch(part):
            ids = batch.inputs.clone()
            ids[batch.masked] = batch.targets
            rows |= set(map(tuple, ids.tolist()))
        return rows

    rate, final, seen = map(sentences, (RATE, FINAL, study.TRAINING))
    assert min(map(len, (rate, final, seen))) > 1_900
    assert not final & seen
    # A sentence that differs from another in its mark or spelling alone may be in both halves.
    assert len(rate & final) < 0.01 * len(final)


def test_what_is_in_the_log_is_not_trained_again(log: list[Row], tmp_path: Path) -> None:
    out = tmp_path / "log.csv"
    out.write_bytes(written(log))
    said = studied(out, 2)
    assert "seed 0:" not in said
    rows = read_table(out)
    assert rows[: len(log)] == log
    assert [(row.variant, row.seed) for row in rows[len(log) :]] == [("relu", 1), ("no-ffn", 1)]


def test_a_run_that_was_stopped_ends_as_in_one_go(
    log: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "log.csv"
    out.write_bytes(written(log[:-1]))
    monkeypatch.setattr(study, "CHECKPOINT_STEPS", 2)
    step = Learner.take_step
    taken: list[int] = []

    def stopping(self: Learner) -> None:
        if len(taken) == 5:
            raise KeyboardInterrupt
        taken.append(self.step)
        step(self)

    monkeypatch.setattr(Learner, "take_step", stopping)
    run("study", "--out", out, "--seeds", 1, "--afresh", *SIX_STEPS)
    assert taken == [0, 1, 2, 3, 4]

    def counting(self: Learner) -> None:
        taken.append(self.step)
        step(self)

    monkeypatch.setattr(Learner, "take_step", counting)
    studied(out, 1)
    assert taken[5:] == [4, 5]
    assert read_table(out) == log
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_another_file_is_not_written_over(tmp_path: Path) -> None:
    out = tmp_path / "letter.csv"
    out.write_text("Dear Sir,\n", encoding="utf-8")
    assert_refused(run("study", "--out", out, *SIX_STEPS), "is not a log of this study")
    assert out.read_text(encoding="utf-8") == "Dear Sir,\n"
