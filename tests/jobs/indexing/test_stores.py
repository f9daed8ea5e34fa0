"""A corpus in an object store gives what the same folder gives, or a sentence why it cannot."""

import gzip
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

from ffnviz.jobs.indexing import files, sources
from ffnviz.jobs.indexing.files import Address, Place, StoreError, parse_place
from ffnviz.jobs.indexing.sources import pieces_of, texts_of
from tests.commands import assert_refused, run
from tests.jobs.indexing.conftest import Store, serving
from tests.jobs.indexing.test_sources import packed


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """Every kind of file, with some of every fault."""
    folder = tmp_path / "books"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "one.txt").write_text("The dog ran home.\nIt was late.\n" * 9, encoding="utf-8")
    (folder / "One b.txt").write_text("She sang. " * 60 + "\n", encoding="utf-8")
    (folder / "deep" / "two.txt").write_text("A cat saw the sea.\n" * 5, encoding="utf-8")
    rows = b'{"text": "He had two dogs."}\n' * 4
    (folder / "deep" / "deeper" / "three.jsonl.gz").write_bytes(gzip.compress(rows, mtime=0))
    (folder / "deep-b.jsonl").write_bytes(rows + b'{"text": 5}\n[\n')
    (folder / "four.jsonl.zst").write_bytes(packed(rows, "zstd"))
    table = pa.table({"text": ["The sea.", "The man.", "The cat."]})
    pq.write_table(table, folder / "five.parquet", row_group_size=2)
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(rows * 99, mtime=0)[:-9])
    (folder / "bad.txt").write_bytes(b"one\nt\xffo\n")
    (folder / "empty.txt").touch()
    (folder / "no.parquet").write_bytes(b"PAR1 no")
    (folder / "not.csv").write_text("not,read")
    return folder


def read(place: Place) -> tuple[list[tuple[str, str]], dict[str, int]]:
    pieces, problems = pieces_of([place])
    counted = Counter(problems)
    texts = [(p.name, text) for p in pieces for text in texts_of(p, "text", counted)]
    return texts, {name.partition(" (")[0]: n for name, n in counted.items()}


def at(address: str) -> Address:
    found = parse_place(address)
    assert isinstance(found, Address)
    return found


@pytest.mark.parametrize("piece_bytes", [7, 64, 2**21])
def test_texts_their_order_and_faults_are_those_of_the_folder(
    books: Path, store: Store, monkeypatch: pytest.MonkeyPatch, piece_bytes: int
) -> None:
    monkeypatch.setattr(sources, "PIECE_BYTES", piece_bytes)
    monkeypatch.setattr(sources, "LONGEST_LINE", 100)  # one line is longer
    monkeypatch.setattr(files, "READ_BYTES", 50)  # a line takes several requests
    there = at(store.put(books, f"faults-{piece_bytes}"))
    texts, problems = read(there)
    assert (texts, problems) == read(books)
    assert len(problems) == 7
    (alone, _) = read(at(store.address(f"faults-{piece_bytes}/deep/two.txt")))
    assert alone == [("two.txt", "A cat saw the sea.")] * 5


def indexed(corpus: str, out: Path, workers: int = 1) -> Result:
    more = ("--twin", "relu", "--blocks", 1, "--workers", workers)
    return run("index", "--corpus", corpus, "--out", out, *more)


def test_the_index_is_that_of_the_folder_to_the_byte(
    books: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "PIECE_BYTES", 100)
    assert len(pieces_of([books])[0]) > 12  # which two workers share
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # as in test_local.py
    address = store.put(books, "books")
    asked = {"a": (str(books), 1), "b": (books.as_uri(), 1), "c": (address, 1), "d": (address, 2)}
    for name, (corpus, workers) in asked.items():
        done = indexed(corpus, tmp_path / name, workers)
        assert done.exit_code == 0, done.output
        assert "bad.txt: lines that are not UTF-8" in done.output
    assert len({(tmp_path / name / "relu.npz").read_bytes() for name in asked}) == 1


def test_a_file_that_vanishes_is_counted_and_a_store_that_does_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(files.ATTEMPTS, "patiently", 1)
    books = tmp_path / "books"
    books.mkdir()
    (books / "a.txt").write_text("one\n")
    (books / "b.txt").write_text("two\n")
    with serving() as mine:
        pieces, _ = pieces_of([at(mine.put(books, "gone"))])
        mine.remove("gone/a.txt")
        problems: Counter[str] = Counter()
        texts = [t for piece in pieces for t in texts_of(piece, "text", problems)]
        assert texts == ["two"]
        assert next(iter(problems)).startswith("a.txt: cannot be read")
        mine.stop()
        with pytest.raises(StoreError, match=r"^s3://gone: nobody answers there\.$"):
            list(texts_of(pieces[1], "text", problems))


@pytest.fixture
def silent() -> Iterator[str]:
    """A machine that takes calls and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_what_is_wrong_with_an_address_is_said(store: Store, silent: str, tmp_path: Path) -> None:
    nobody, mute = Store("127.0.0.1:9", print), Store(silent, print)
    wrong = {
        store.address("nobucket/x"): "s3://nobucket/x: there is no such bucket, folder or file.",
        store.address("nobucket"): "s3://nobucket: there is no such bucket, folder or file.",
        nobody.address("books"): "s3://books: nobody answers there.",
        mute.address("me:secret@books"): "s3://books: nobody answers there.",
        "s3://books?nonsense=1": "s3://books: “nonsense” is not one of its options",
        "s3:///x": "s3:///x names no bucket",
        "s3://": "s3:// names no bucket",
        "hdfs://books/x": "hdfs:// leads to no store. Give s3://BUCKET/FOLDER",
        "file:///no/such/folder": "there is no such path: /no/such/folder",
    }
    for address, sentence in wrong.items():
        done = indexed(address, tmp_path)
        assert_refused(done)
        said = " ".join(done.output.split())
        assert sentence in said, said
        assert "secret" not in said


def test_a_bucket_without_texts_or_key_says_so_and_shows_none(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("not,read")
    done = indexed(store.put(tmp_path, "nothing"), tmp_path / "out")
    assert_refused(done, "s3://nothing: there is no text in it.")
    with serving(strict=True) as mine:
        done = indexed(mine.address("books"), tmp_path)
    assert_refused(done, "s3://books: reading it is not allowed, or no credentials were found.")
    address = Address("s3://somebody:secret@books/deep?region=us-east-1")
    assert address.shown == "s3://books/deep"
    assert address.name == "deep"
    assert "secret" not in repr(address)
