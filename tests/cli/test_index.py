"""`ffnviz index`: on our sentences, on a folder of books, and what it says when it cannot."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner

from ffnviz.analysis.neurons.descriptions import read_descriptions
from ffnviz.analysis.neurons.index_file import INDEXES, read_index
from ffnviz.cli import index, main
from ffnviz.jobs.indexing.run import IndexingJob, count
from ffnviz.jobs.indexing.sources import Piece
from ffnviz.models.encoder.model import load


@pytest.fixture
def books(tmp_path: Path) -> Path:
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "one.txt").write_text("The dog ran home.\n\nIt  was late.\n" * 3, encoding="utf-8")
    (folder / "two.txt").write_text("She sang. " * 200 + "\n", encoding="utf-8")
    return folder


def test_a_folder_of_books_is_indexed_with_its_books_as_tags(books: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["index", "--corpus", str(books), "--twin", "gelu", "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    assert "texts" in done.output
    index = read_index(tmp_path / "out" / "gelu.npz", 2_048, 2)
    assert index.tags == ("one", "two")
    assert index.source == "2 files of books"
    assert index.with_tag.tolist()[0] == 6
    assert index.with_tag[1] == index.n_texts - 6 > 1  # a long paragraph, cut into pieces
    tokenizer = load("gelu").tokenizer
    n_tokens = sum(
        len(ids)
        for ids in tokenizer.encode_many(["The dog ran home.", "It was late."] * 3
                                         + [("She sang. " * 200).strip()])
    )  # fmt: skip
    assert index.n_tokens == pytest.approx(n_tokens, abs=8)


def test_the_strongest_example_is_the_strongest_token_of_the_books(
    books: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    CliRunner().invoke(main, ["index", "--corpus", str(books), "--twin", "relu", "--out", str(out)])
    index = read_index(out / "relu.npz", 2_048, 2)
    trace = load("relu").trace("The dog ran home.")
    hidden = trace.blocks[1].ffn.hidden.numpy()
    best = index.blocks[1].values[0].astype(np.float32)
    fires = hidden.max(axis=0) > 0
    assert (best >= hidden.max(axis=0) - 0.02)[fires].all()
    neuron = int(hidden.max(axis=0).argmax())
    block = index.blocks[1]
    if index.texts[block.examples[0, neuron]] == "The dog ran home.":
        assert int(block.tokens[0, neuron]) == int(hidden[:, neuron].argmax())


def test_without_a_place_it_goes_to_a_folder_here_and_never_into_the_package(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = {path: path.read_bytes() for path in INDEXES.iterdir()}
    done = CliRunner().invoke(main, ["index", "--corpus", str(books), "--twin", "relu"])
    assert done.exit_code == 0, done.output
    assert {path: path.read_bytes() for path in INDEXES.iterdir()} == shipped
    assert [path.name for path in (tmp_path / "ffnviz-index").iterdir()] == ["relu.npz"]
    assert done.output.endswith("To see it: ffnviz app --index ffnviz-index/relu.npz\n")


def test_ctrl_c_keeps_what_is_counted_and_says_how_to_go_on(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(
        job: IndexingJob, pieces: Sequence[Piece], *_: object, **__: object
    ) -> Iterator[object]:
        yield [pieces[0].number], count(job, pieces[0])
        raise KeyboardInterrupt

    given = ["index", "--corpus", str(books), "--twin", "relu", "--out", str(tmp_path / "out")]
    with monkeypatch.context() as patch:
        patch.setattr(index, "run_local", stopped)
        done = CliRunner().invoke(main, given)
    assert done.exit_code == 130
    kept = tmp_path / "out" / "relu.part.npz"
    assert f"{kept} holds the counts so far: the same command goes on" in done.output
    assert done.output.endswith("\nStopped.\n")
    with np.load(kept) as part:
        assert len(json.loads(part["about"].tobytes())["done"]) == 1
    assert CliRunner().invoke(main, given).exit_code == 0
    assert not kept.exists()


def test_a_path_that_leads_nowhere_is_called_that(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["index", "--corpus", str(tmp_path / "nope")])
    assert done.exit_code == 2
    assert f"there is no such path: {tmp_path / 'nope'}" in done.output


def test_a_folder_without_books_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["index", "--corpus", str(tmp_path), "--twin", "relu"])
    assert done.exit_code == 1
    assert "there is no text in it" in done.output
    assert "Traceback" not in done.output


def test_what_cannot_be_read_is_named_and_stops_nothing(books: Path, tmp_path: Path) -> None:
    (books / "zzz.txt").write_bytes(b"\xff\xff\x00bad\nGood.\n")
    (books / "none.txt").write_bytes(b"")
    done = CliRunner().invoke(
        main, ["index", "--corpus", str(books), "--twin", "relu", "--out", str(tmp_path)]
    )
    assert done.exit_code == 0
    assert "zzz.txt: lines that are not UTF-8, read with � for what is wrong: 1" in done.output
    assert "none.txt: is empty: 1" in done.output


@pytest.mark.parametrize("twice", [False, True])
def test_half_an_emoji_stops_nothing(
    tmp_path: Path, twice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # as in test_local.py
    rows = ['{"text": "The dog \\ud83d ran home."}', '{"text": "It was late."}']
    (tmp_path / "a.jsonl").write_text("\n".join(rows * 3) + "\n")
    given = ["index", "--corpus", str(tmp_path / "a.jsonl"), "--twin", "relu", "--out"]
    given += [str(tmp_path / "out"), *["--workers", "2"][: 2 * twice]]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    assert "half a character, read with � for it: 3" in done.output
    index = read_index(tmp_path / "out" / "relu.npz", 2_048, 2)
    assert index.n_texts == 6
    assert "The dog \ufffd ran home." in index.texts


def test_blocks_are_chosen_by_their_numbers(books: Path, tmp_path: Path) -> None:
    given = ["index", "--corpus", str(books), "--twin", "relu", "--out", str(tmp_path)]
    assert CliRunner().invoke(main, [*given, "--blocks", "2"]).exit_code == 0
    with np.load(tmp_path / "relu.npz") as arrays:
        assert {name.split(".")[0] for name in arrays if "." in name} == {"1"}
    of_probes = ["index", "--twin", "relu", "--blocks", "1", "--out", str(tmp_path / "probes")]
    assert CliRunner().invoke(main, of_probes).exit_code == 0
    assert read_index(tmp_path / "probes" / "relu.npz", 2_048, 2).numbers == (0,)
    for bad in ("0", "3", "x", ""):
        done = CliRunner().invoke(main, [*given, "--blocks", bad])
        assert done.exit_code == 1
        assert "give numbers from 1 to 2" in done.output


def test_what_was_written_is_told_as_json_and_written_as_tables(
    books: Path, tmp_path: Path
) -> None:
    pandas = pytest.importorskip("pandas")
    out = tmp_path / "out"
    asked = ["index", "--corpus", str(books), "--twin", "relu", "--blocks", "2", "--out", str(out)]
    done = CliRunner().invoke(main, [*asked, "--table", "parquet", "--json"])
    assert done.exit_code == 0, done.output
    told = done.stdout[done.stdout.index("{") :]  # click before 8.2 mixes stderr into it
    (report,) = json.loads(told)["indexes"]
    index = read_index(out / "relu.npz")
    assert (report["texts"], report["tokens"]) == (index.n_texts, index.n_tokens)
    assert (report["blocks"], report["neurons"], report["tags"]) == ([2], 2_048, ["one", "two"])
    names = ["relu.npz", "relu.parquet", "relu-examples.parquet"]
    assert report["files"] == {str(out / name): (out / name).stat().st_size for name in names}
    table = pandas.read_parquet(out / "relu.parquet")
    assert table.tokens.tolist() == index.by_number[1].fired.tolist()


def test_tags_and_words_are_written_as_descriptions(books: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = ["index", "--corpus", str(books), "--twin", "relu", "--out", str(out), "--describe"]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    rows = read_descriptions(out / "relu.jsonl").rows
    assert {row.model for row in rows} == {"relu"}
    fired = read_index(out / "relu.npz").by_number[1].fired
    assert {row.index for row in rows if row.block == 1} == set(np.flatnonzero(fired))
