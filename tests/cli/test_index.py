"""`ffnviz index`: on our sentences, on a folder of books, and what it says when it cannot."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from ffnviz.analysis.neurons.descriptions import read_descriptions
from ffnviz.analysis.neurons.index_file import INDEXES, read_index
from ffnviz.jobs.indexing.run import IndexingJob, count
from ffnviz.jobs.indexing.sources import Piece
from ffnviz.models.encoder.model import load
from tests.commands import assert_refused, done, run


def write_books(folder: Path) -> Path:
    folder.mkdir()
    (folder / "one.txt").write_text("The dog ran home.\n\nIt  was late.\n" * 3, encoding="utf-8")
    (folder / "two.txt").write_text("She sang. " * 200 + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def books(tmp_path: Path) -> Path:
    return write_books(tmp_path / "books")


def indexed(corpus: Path, out: Path, *more: object) -> Result:
    return done("index", "--corpus", corpus, "--twin", "relu", "--out", out, *more)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder with an index of the books in all its forms, and what was told of it."""
    pytest.importorskip("pandas")
    place = tmp_path_factory.mktemp("written")
    more = ("--table", "parquet", "--json", "--describe")
    return place / "out", indexed(write_books(place / "books"), place / "out", *more).stdout


def test_what_was_written_is_told_as_json_and_in_tables(written: tuple[Path, str]) -> None:
    pandas = pytest.importorskip("pandas")

    out, told = written
    # Click before 8.2 mixes stderr into it.
    (report,) = json.loads(told[told.index("{") :])["indexes"]
    index = read_index(out / "relu.npz")
    assert (report["texts"], report["tokens"]) == (index.n_texts, index.n_tokens)
    assert (report["blocks"], report["neurons"], report["tags"]) == ([1, 2], 4_096, ["one", "two"])
    assert index.source == "2 files of books"
    assert index.with_tag[0] == 6
    assert index.with_tag[1] == index.n_texts - 6 > 1  # a long paragraph, cut into pieces
    texts = ["The dog ran home.", "It was late."] * 3 + [("She sang. " * 200).strip()]
    n_tokens = sum(map(len, load("relu").tokenizer.encode_many(texts)))
    assert index.n_tokens == pytest.approx(n_tokens, abs=8)
    assert report["files"] == {str(path): path.stat().st_size for path in out.iterdir()}
    assert {"relu.npz", "relu.parquet", "relu-examples.parquet"} < {p.name for p in out.iterdir()}
    table = pandas.read_parquet(out / "relu.parquet")
    fired = index.by_number[1].fired
    assert table.tokens[table.block == 1].tolist() == fired.tolist()
    rows = read_descriptions(out / "relu.jsonl").rows
    assert {row.model for row in rows} == {"relu"}
    assert {row.index for row in rows if row.block == 1} == set(np.flatnonzero(fired))


def test_without_a_place_it_goes_to_a_folder_here_and_never_into_the_package(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = {path: path.read_bytes() for path in INDEXES.iterdir()}
    (books / "zzz.txt").write_bytes(b"\xff\xff\x00bad\nGood.\n")
    (books / "none.txt").write_bytes(b"")
    told = done("index", "--corpus", books, "--twin", "relu").output
    assert {path: path.read_bytes() for path in INDEXES.iterdir()} == shipped
    assert [path.name for path in (tmp_path / "ffnviz-index").iterdir()] == ["relu.npz"]
    assert told.endswith("To see it: ffnviz app --index ffnviz-index/relu.npz\n")
    # What cannot be read is named and stops nothing.
    assert "zzz.txt: lines that are not UTF-8, read with � for what is wrong: 1" in told
    assert "none.txt: is empty: 1" in told


def test_ctrl_c_keeps_what_is_counted_and_says_how_to_go_on(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(job: IndexingJob, pieces: Sequence[Piece], *_: object, **__: object) -> Any:
        yield [pieces[0].number], count(job, pieces[0])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ffnviz.jobs.indexing.run.run_local", stopped)
        told = run("index", "--corpus", books, "--twin", "relu", "--out", tmp_path / "out")
    assert told.exit_code == 130
    kept = tmp_path / "out" / "relu.part.npz"
    assert f"{kept} holds the counts so far: the same command goes on" in told.output
    assert told.output.endswith("\nStopped.\n")
    with np.load(kept) as part:
        assert len(json.loads(part["about"].tobytes())["done"]) == 1
    indexed(books, tmp_path / "out")
    assert not kept.exists()


def test_a_path_without_books_is_refused(tmp_path: Path) -> None:
    nowhere = tmp_path / "nope"
    assert_refused(run("index", "--corpus", nowhere), f"there is no such path: {nowhere}")
    assert_refused(run("index", "--corpus", tmp_path, "--twin", "relu"), "there is no text in it")


def test_both_twins_are_indexed_unless_one_is_named(books: Path, tmp_path: Path) -> None:
    done("index", "--corpus", books, "--blocks", "1", "--out", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"gelu.npz", "relu.npz"}


def test_blocks_are_chosen_by_their_numbers(books: Path, tmp_path: Path) -> None:
    indexed(books, tmp_path, "--blocks", "2")
    with np.load(tmp_path / "relu.npz") as arrays:
        assert {name.split(".")[0] for name in arrays if "." in name} == {"1"}
    done("index", "--twin", "relu", "--blocks", "1", "--out", tmp_path / "probes")
    assert read_index(tmp_path / "probes" / "relu.npz", 2_048, 2).numbers == (0,)
    for bad in ("0", "3", "x", ""):
        asked = ("--corpus", books, "--twin", "relu", "--out", tmp_path, "--blocks", bad)
        assert_refused(run("index", *asked), "give numbers from 1 to 2")
