"""A corpus is cut into pieces in which every text stands once, whatever the files are like."""

import gzip
import io
import json
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from ffnviz.jobs.indexing import sources
from ffnviz.jobs.indexing.sources import (
    LEAST_BYTES,
    PIECE_BYTES,
    SourcesError,
    cut,
    largest_first,
    piece_bytes,
    pieces_of,
    texts_of,
)
from ffnviz.models.card import Sizes

TEXTS = ["The dog ran.", "Größe 🙂", "", "a " * 50 + "b", "\u2028 odd", "[MASK]"]


def read(paths: list[Path], column: str = "text") -> tuple[list[str], dict[str, int]]:
    pieces, problems = pieces_of(paths)
    counted = Counter(problems)
    return [text for piece in pieces for text in texts_of(piece, column, counted)], dict(counted)


def wanted(texts: list[str]) -> list[str]:
    return [" ".join(text.split()) for text in texts if text.split()]


def packed(lines: bytes, how: str) -> bytes:
    if how == "gzip":
        return gzip.compress(lines)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, how) as stream:
        stream.write(lines)
    return bytes(sink.getvalue())


def test_every_kind_of_file_is_read(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"text": text, "n": 1}) + "\n" for text in TEXTS).encode()
    (tmp_path / "a.txt").write_text("\n".join(TEXTS), encoding="utf-8", newline="\n")
    (tmp_path / "b.jsonl").write_bytes(rows)
    (tmp_path / "c.jsonl.gz").write_bytes(packed(rows, "gzip"))
    (tmp_path / "d.jsonl.zst").write_bytes(packed(rows, "zstd"))
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "e.parquet", row_group_size=2)
    (tmp_path / "f.csv").write_text("not,read")
    assert read([tmp_path]) == (wanted(TEXTS) * 5, {})


@settings(max_examples=100, deadline=None)
@given(
    some.lists(some.text("ab é\n\r🙂", max_size=12)),
    some.integers(1, 40),
    some.integers(1, 40),
    some.booleans(),
)
def test_pieces_of_any_size_and_those_they_are_cut_to_hold_every_line_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, most: int, ends: bool
) -> None:
    text = "\n".join(lines) + "\n" * ends
    assume(text)  # an empty file is a problem
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "PIECE_BYTES", size)
        pieces, problems = pieces_of([path])
    smaller = cut(pieces, most)
    assert [piece.number for piece in smaller] == list(range(len(smaller)))
    assert all((piece.end or 0) - piece.start <= most for piece in smaller)
    assert cut(smaller, PIECE_BYTES) == smaller
    counted = Counter(problems)
    for each in (pieces, smaller):
        found = [text for piece in each for text in texts_of(piece, "text", counted)]
        assert found == wanted(text.split("\n"))
    assert not counted


@given(some.binary(max_size=200), some.sampled_from(["txt", "jsonl", "jsonl.gz", "parquet"]))
def test_any_bytes_are_texts_or_problems_that_are_counted_or_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, kind: str
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"a.{kind}"
    path.write_bytes(content)
    with suppress(SourcesError):
        texts, problems = read([path])
        assert all(text.strip() for text in texts)
        assert texts or problems or kind in ("txt", "jsonl")  # which may be blank lines alone


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_a_mark_at_the_start_is_no_text_and_tells_the_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, size: int
) -> None:
    monkeypatch.setattr(sources, "PIECE_BYTES", size)
    lines = ["The cat sat.", "਼ਊ, whose letters have a byte that ends a line", *TEXTS]
    text = "\n".join(lines)
    rows = "".join(json.dumps({"text": each}, ensure_ascii=False) + "\n" for each in lines)
    (tmp_path / "a.txt").write_text(text, encoding=encoding, newline="\r\n")
    (tmp_path / "b.jsonl").write_text(rows, encoding=encoding)
    (tmp_path / "c.jsonl.gz").write_bytes(packed(rows.encode(encoding), "gzip"))
    (tmp_path / "d.txt.zst").write_bytes(packed(text.encode(encoding), "zstd"))
    assert read([tmp_path]) == (wanted(lines) * 4, {})


def test_faults_in_utf_16_are_counted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LONGEST_LINE", 10)
    text = "one\n" + "x" * 35 + "\ntwo\n"
    (tmp_path / "a.txt").write_bytes(text.encode("utf-16") + b"\x00\xd8a\x00\n\x00end\x00"[:-1])
    texts, problems = read([tmp_path])
    assert texts[:3] == ["one", "x" * 10, "two"]
    assert problems == {
        "a.txt: lines of more than 10 characters, cut": 1,
        "a.txt: lines that are not UTF-16, read with � for what is wrong": 2,
    }


def test_what_is_wrong_is_counted_and_named_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LONGEST_LINE", 100)
    monkeypatch.setattr(sources, "PIECE_BYTES", 64)
    (tmp_path / "bad.txt").write_bytes(b"one\nt\xffo\nthree\n")
    (tmp_path / "broken.jsonl").write_text('{"text": "good"}\n{"text": \n[1]\n{"text": 5}\n{}\n')
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "cut.jsonl.gz").write_bytes(packed(b'{"text": "x"}\n' * 99, "gzip")[:-9])
    (tmp_path / "half.jsonl").write_text('{"text": "a \\ud83d b"}\n{"text": "\\ud83d\\ude00"}\n')
    (tmp_path / "empty.txt").touch()
    (tmp_path / "long.txt").write_text("start\n" + "x" * 10_000 + "\nend\n")
    pq.write_table(pa.table({"words": ["a"]}), tmp_path / "other.parquet")
    texts, problems = read([tmp_path])
    assert [text for text in texts if text != "x"] == [
        "one", "t\ufffdo", "three", "good", "a \ufffd b", "😀", "start", "x" * 100, "end",
    ]  # fmt: skip
    broken = problems.pop(next(name for name in problems if name.startswith("broken.parquet: can")))
    cut = problems.pop(next(name for name in problems if name.startswith("cut.jsonl.gz: can")))
    assert (broken, cut) == (1, 1)
    assert problems == {
        "bad.txt: lines that are not UTF-8, read with � for what is wrong": 1,
        "broken.jsonl: lines that are not JSON": 1,
        "broken.jsonl: rows without text in “text”": 3,
        "empty.txt: is empty": 1,
        "half.jsonl: lines with half a character, read with � for it": 1,
        "long.txt: lines of more than 100 bytes, cut": 1,
        "other.parquet: has no column “text”": 1,
    }


class Counted(io.BytesIO):
    """A file that adds up what is read of it."""

    n_read = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        Counted.n_read += len(line)
        return line


def test_a_long_line_is_not_read_again_by_each_of_its_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LONGEST_LINE", 100)
    monkeypatch.setattr(sources, "PIECE_BYTES", 500)
    path = tmp_path / "long.txt"
    path.write_text("start\n" + "x" * 200_000 + "\nend\n")
    monkeypatch.setattr(sources, "opened", lambda path: Counted(path.read_bytes()))
    texts, problems = read([path])
    assert texts == ["start", "x" * 100, "end"]
    assert problems == {"long.txt: lines of more than 100 bytes, cut": 1}
    assert 0 < Counted.n_read < 2 * path.stat().st_size


def test_of_a_folder_hidden_names_and_links_out_of_it_are_left_out(tmp_path: Path) -> None:
    corpus, elsewhere = tmp_path / "corpus", tmp_path / "elsewhere"
    for folder in (corpus / ".git", corpus / "more", elsewhere):
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text(f"{folder.name}\n")
    (corpus / ".b.txt").write_text("hidden\n")
    (corpus / "out.txt").symlink_to(elsewhere / "a.txt")
    (corpus / "out").symlink_to(elsewhere)
    assert read([corpus]) == (["more"], {})
    # What is named itself is read, whatever it is.
    assert read([corpus / ".b.txt", corpus / "out.txt"])[0] == ["hidden", "elsewhere"]
    linked = tmp_path / "linked"
    linked.symlink_to(corpus)
    assert read([linked]) == (["more"], {})
    assert read([corpus / ".git"])[0] == [".git"]


def test_files_of_one_name_have_tags_of_their_own(tmp_path: Path) -> None:
    names = ("a/notes.txt", "b/notes.txt", "b/notes.jsonl", "b/other.txt", "c/b/other.jsonl.gz")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        row = b'{"text": "The cat sat."}\n'
        (tmp_path / name).write_bytes(gzip.compress(row) if name.endswith("gz") else row)
    tags = {str(p.path).removeprefix(f"{tmp_path}/"): p.tag for p in pieces_of([tmp_path])[0]}
    assert tags == {
        "a/notes.txt": "a/notes.txt", "b/notes.txt": "b/notes.txt",
        "b/notes.jsonl": "notes.jsonl", "b/other.txt": "other", "c/b/other.jsonl.gz": "other.jsonl",
    }  # fmt: skip


def test_nothing_to_read_is_refused_and_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourcesError, match="there is no text in it"):
        pieces_of([tmp_path])
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    pieces, _ = pieces_of([tmp_path])
    (tmp_path / "a.txt").unlink()
    problems: Counter[str] = Counter()
    assert [t for piece in pieces for t in texts_of(piece, "text", problems)] == ["two"]
    assert list(problems.values()) == [1]
    assert next(iter(problems)).startswith("a.txt: cannot be read")


TWIN = Sizes(512, 2_048, 2, 8_192, 256)
GPT2 = Sizes(768, 3_072, 12, 50_257, 1_024)
SEVEN_B = Sizes(4_096, 11_008, 32, 32_000, 4_096)


def test_a_large_network_gets_small_pieces_and_large_ones_come_first(tmp_path: Path) -> None:
    assert piece_bytes(TWIN, "cpu") == PIECE_BYTES
    assert PIECE_BYTES / 12 < piece_bytes(GPT2, "cpu") < PIECE_BYTES / 8
    assert piece_bytes(SEVEN_B, "cpu") == LEAST_BYTES
    assert piece_bytes(SEVEN_B, "cuda") == PIECE_BYTES

    for name, n in (("a.txt", 10), ("b.txt", 30), ("d.txt", 20), ("e.txt", 30)):
        (tmp_path / name).write_bytes(b"x" * n)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b"x"))
    pq.write_table(pa.table({"text": ["x"] * 4}), tmp_path / "f.parquet", row_group_size=2)
    pieces, _ = pieces_of([tmp_path])
    names = [piece.name for piece in largest_first(pieces)]
    assert names == ["c.jsonl.gz", "b.txt", "e.txt", "d.txt", "a.txt", "f.parquet", "f.parquet"]
    smaller = Counter(piece.name for piece in cut(pieces, 1))
    assert smaller == {"a.txt": 10, "b.txt": 30, "d.txt": 20, "e.txt": 30,
                       "c.jsonl.gz": 1, "f.parquet": 2}  # fmt: skip
