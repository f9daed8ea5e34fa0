"""`ffnviz index`: on our sentences, on a folder of books, and what it says when it cannot."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ffnviz.analysis.neurons.index_file import read_index
from ffnviz.commands import main
from ffnviz.model.model import load


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
    assert index.source == "2 books of books"
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
    assert (best >= hidden.max(axis=0) - 0.02).all()
    neuron = int(hidden.max(axis=0).argmax())
    block = index.blocks[1]
    if index.texts[block.examples[0, neuron]] == "The dog ran home.":
        assert int(block.tokens[0, neuron]) == int(hidden[:, neuron].argmax())


def test_a_folder_without_books_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["index", "--corpus", str(tmp_path), "--twin", "relu"])
    assert done.exit_code == 1
    assert "holds no .txt file" in done.output
    assert "Traceback" not in done.output


def test_a_book_that_is_no_text_is_named(books: Path, tmp_path: Path) -> None:
    (books / "zzz.txt").write_bytes(b"\xff\xfe\x00bad")
    done = CliRunner().invoke(
        main, ["index", "--corpus", str(books), "--twin", "relu", "--out", str(tmp_path)]
    )
    assert done.exit_code == 1
    assert "zzz.txt is not UTF-8" in done.output
