"""A text is the same in every encoding that a mark tells, and the mark is none of it."""

import codecs
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from ffnviz.analysis.neurons.descriptions import read_descriptions
from ffnviz.cli.flips import _read
from ffnviz.lecture.chosen import BUILT_IN, lecture_file
from ffnviz.models.sae import read_sae
from ffnviz.models.text_encoding import decoded, lines_of, read_text
from tests.analysis.features.folders import drawn, saved
from tests.lecture.lecture_runs import catalog

MARKED: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-8 with a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16, as Windows has it": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "UTF-16, the other way round": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "UTF-32": lambda text: codecs.BOM_UTF32_BE + text.encode("utf-32-be"),
}
TEXT = "Größe 🙂\n਼ ends in a line's end\r\nइਊ\n"  # U+0A3C, U+0A0A have a byte that is one


@given(some.text().filter(lambda text: not text.startswith(("\ufeff", "\0"))))
@example(TEXT)
def test_every_text_is_decoded_and_a_stream_gives_its_lines(text: str) -> None:
    for encoded in MARKED.values():
        assert decoded(encoded(text)) == text
        with lines_of(cast(IO[bytes], io.BytesIO(encoded(text))), newline="\n") as lines:
            assert list(lines) == io.StringIO(text, newline="\n").readlines()


def test_what_is_no_text_is_refused_or_marked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("café".encode("latin-1"))
    with pytest.raises(UnicodeDecodeError):
        read_text(tmp_path / "a.txt")
    with lines_of((tmp_path / "a.txt").open("rb")) as lines:
        assert list(lines) == ["caf\ufffd"]


@pytest.mark.parametrize("encoded", MARKED.values(), ids=list(MARKED))
def test_sentences_lectures_and_descriptions_are_read_in_it(
    encoded: Callable[[str], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(encoded(TEXT))
    assert list(_read(path)) == TEXT.splitlines()
    path.write_bytes(encoded(BUILT_IN["ffn"].read_text(encoding="utf-8")))
    assert lecture_file(path, catalog()) == lecture_file(BUILT_IN["ffn"], catalog())
    line = json.dumps({"modelId": "m", "layer": 0, "index": "3", "description": "Größe"})
    (tmp_path / "a.jsonl").write_bytes(encoded(f"{line}\n"))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(encoded(f"{line}\n")))
    for name in ("a.jsonl", "a.jsonl.gz"):
        assert [each.text for each in read_descriptions(tmp_path / name).of(0, 3)] == ["Größe"]
    folder = saved(tmp_path / "sae", drawn("standard", 8, 16), "blocks.1.hook_mlp_out")
    (folder / "cfg.json").write_bytes(encoded((folder / "cfg.json").read_text()))
    assert read_sae(folder).block == 1
