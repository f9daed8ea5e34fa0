"""`ffnviz study`: a table that is gone on with."""

from pathlib import Path

from click.testing import CliRunner

from ffnviz.analysis.trainings.table import read_table
from ffnviz.cli import main

SHORT = ("--steps", "10", "--variant", "relu", "--variant", "no-ffn")


def test_what_is_in_the_table_is_not_trained_again(tmp_path: Path) -> None:
    out = tmp_path / "table.csv"

    def run(seeds: int) -> str:
        command = ["study", "--out", str(out), "--seeds", str(seeds), *SHORT]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
        return done.stdout

    assert run(1).count("seed 0") == 2
    first = out.read_text(encoding="utf-8")
    assert "seed 0" not in run(2)
    assert out.read_text(encoding="utf-8").startswith(first)
    rows = read_table(out)
    assert [(row.variant, row.seed) for row in rows] == [
        ("relu", 0), ("no-ffn", 0), ("relu", 1), ("no-ffn", 1),
    ]  # fmt: skip
    n_ffns = 2 * (2 * 64 * 256 + 256 + 64)
    assert rows[0].parameters - rows[1].parameters == n_ffns
    assert rows[0].loss != rows[2].loss


def test_another_file_is_not_written_over(tmp_path: Path) -> None:
    out = tmp_path / "letter.csv"
    out.write_text("Dear Sir,\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["study", "--out", str(out), *SHORT])
    assert done.exit_code == 1
    assert "no table of this study" in done.output
    assert out.read_text(encoding="utf-8") == "Dear Sir,\n"
