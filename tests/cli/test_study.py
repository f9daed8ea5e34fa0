"""`ffnviz study`: a log that is gone on with."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from ffnviz.analysis.trainings import FINAL, RATE, RATES, Row, read_table, search, written
from ffnviz.cli import main
from ffnviz.training.learn import study
from ffnviz.training.learn.learner import Learner

SHORT = ("--steps", "6", "--variant", "relu", "--variant", "no-ffn")


def run(out: Path, seeds: int) -> str:
    command = ["study", "--out", str(out), "--seeds", str(seeds), "--afresh", *SHORT]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    out = tmp_path_factory.mktemp("study") / "log.csv"
    run(out, 1)
    return read_table(out)


def test_each_variant_is_trained_at_the_best_of_its_own_rates(log: list[Row]) -> None:
    assert [row.variant for row in log if row.phase == FINAL] == ["relu", "no-ffn"]
    for row in log:
        found = search(log, row.variant, 6)
        assert set(RATES) <= set(found.losses)
        assert row.phase == RATE or row.learning_rate == found.best


def test_networks_of_one_seed_read_the_same_and_differ_in_the_ffns(log: list[Row]) -> None:
    relu, without = (row for row in log if row.phase == FINAL)
    assert relu.tokens == without.tokens > 6 * 500
    assert relu.parameters - without.parameters == 2 * (2 * 64 * 256 + 256 + 64)
    assert relu.loss != without.loss


def test_rates_and_losses_are_measured_on_different_sentences() -> None:
    def sentences(part: str) -> set[tuple[int, ...]]:
        rows = set()
        for batch in study._batches(part):
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
    said = run(out, 2)
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

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "take_step", stopping)
        CliRunner().invoke(main, ["study", "--out", str(out), "--seeds", "1", "--afresh", *SHORT])
    assert taken == [0, 1, 2, 3, 4]

    def counting(self: Learner) -> None:
        taken.append(self.step)
        step(self)

    monkeypatch.setattr(Learner, "take_step", counting)
    run(out, 1)
    assert taken[5:] == [4, 5]
    assert read_table(out) == log
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_another_file_is_not_written_over(tmp_path: Path) -> None:
    out = tmp_path / "letter.csv"
    out.write_text("Dear Sir,\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["study", "--out", str(out), *SHORT])
    assert done.exit_code == 1
    assert "is not a log of this study" in done.output
    assert out.read_text(encoding="utf-8") == "Dear Sir,\n"
