"""Pieces fit the network, hold what they held before, and the large ones are handed out first."""

import gzip
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ffnviz.jobs.indexing.sources import (
    LEAST_BYTES,
    PIECE_BYTES,
    cut,
    largest_first,
    piece_bytes,
    pieces_of,
    texts_of,
)
from ffnviz.models.card import Sizes

TWIN = Sizes(512, 2_048, 2, 8_192, 256)
GPT2 = Sizes(768, 3_072, 12, 50_257, 1_024)
SEVEN_B = Sizes(4_096, 11_008, 32, 32_000, 4_096)


def test_a_large_network_gets_small_pieces_on_a_processor() -> None:
    assert piece_bytes(TWIN, "cpu") == PIECE_BYTES
    assert PIECE_BYTES / 12 < piece_bytes(GPT2, "cpu") < PIECE_BYTES / 8
    assert piece_bytes(SEVEN_B, "cpu") == LEAST_BYTES
    assert piece_bytes(SEVEN_B, "cuda") == PIECE_BYTES


@settings(max_examples=60, deadline=None)
@given(some.lists(some.text("ab é\n\r🙂", max_size=12)), some.integers(1, 40))
def test_whatever_size_pieces_are_cut_to_every_line_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], most: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes("\n".join(["the first", *lines]).encode())
    pieces, _ = pieces_of([path])
    smaller = cut(pieces, most)
    assert [piece.number for piece in smaller] == list(range(len(smaller)))
    assert all((piece.end or 0) - piece.start <= most for piece in smaller)
    texts = [
        [text for piece in each for text in texts_of(piece, "text", Counter())]
        for each in (pieces, smaller)
    ]
    assert texts[0] == texts[1]
    assert cut(smaller, PIECE_BYTES) == smaller


def test_what_can_only_be_read_whole_stays_whole_and_large_ones_come_first(tmp_path: Path) -> None:
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
