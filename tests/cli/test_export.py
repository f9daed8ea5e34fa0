"""`ffnviz export` as a person or a script would call it."""

import base64
import os
import re
import sys
import zlib
from pathlib import Path

import pytest

from ffnviz.models.encoder.model import MODELS
from tests.commands import run
from tests.export.opened import contents, markup


def export(*arguments: object) -> tuple[int, str, str]:
    result = run("export", *arguments)
    return result.exit_code, result.stdout, result.stderr


def test_a_sentence_becomes_a_file_that_opens_with_the_chosen_twin(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    code, said, problems = export("--text", "A ___ sat.", "--twin", "gelu", "-o", file)
    assert code == 0, problems
    assert re.search(r": \d+ kB, 4 tokens\n$", said)
    header, _ = contents(file.read_text(encoding="utf-8"))
    assert header["sentence"] == "A [MASK] sat."
    assert header["start"]["network"] == "gelu"
    assert [each["id"] for each in header["networks"]] == ["relu", "gelu"]


def test_a_live_folder_is_written_and_no_other_page_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "site"
    code, said, problems = export("--live", "--folder", folder, "--text", "A cat.")
    assert code == 0, problems
    assert re.search(r": 4\d\.\d MB, 4 files\n$", said)
    names = sorted(path.name for path in folder.iterdir())
    assert names[1:3] == ["index.html", next(folder.glob("relu-*.bin")).name]
    for path in folder.glob("*.bin"):
        assert path.stem.endswith(f"-{zlib.crc32(path.read_bytes()):08x}")
    worker = (folder / "service_worker.js").read_text()
    assert all(path.name in worker for path in folder.glob("*.bin"))
    (folder / "index.html").write_text("<p>mine</p>")
    code, _, problems = export("--live", "--folder", folder)
    assert code == 1
    assert "index.html is another page" in problems
    assert (folder / "index.html").read_text() == "<p>mine</p>"


def test_a_folder_is_taken_home_alone_or_refused_where_a_page_cannot_compute_it(
    tmp_path: Path, model_folder: Path
) -> None:
    file = tmp_path / "page.html"
    code, _, problems = export("--live", "--model", model_folder, "-o", file)
    assert code == 1
    assert "A live page cannot compute 'tiny': its sizes, 16, 32, 300, are not all" in problems
    assert not file.exists()
    code, _, problems = export("--model", model_folder, "--text", "A cat.", "-o", file)
    assert code == 0, problems
    header, _ = contents(file.read_text(encoding="utf-8"))
    assert [each["label"] for each in header["networks"]] == ["tiny"]


def test_a_live_file_has_the_weights_and_begins_with_the_sentence(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    code, said, problems = export("--live", "--text", "A ___ sat.", "-o", file)
    assert code == 0, problems
    assert re.search(r": 5\d\.\d MB\n$", said)
    html = file.read_text(encoding="utf-8")
    header, _ = contents(html)
    assert header["plays"] == "live"
    assert header["sentence"] == "A [MASK] sat."
    for index in header["packed"]:
        start = html.index(f'id="weights-{index["id"]}">') + len(f'id="weights-{index["id"]}">')
        weights = base64.b64decode(html[start : html.index("<", start)])
        assert len(weights) == index["size"]
        assert zlib.crc32(weights) == index["crc32"]


def test_a_live_file_has_a_network_of_any_name(tmp_path: Path) -> None:
    """A folder's name may be markup; nothing of it is."""
    folder, file = tmp_path / "\"><b>it's", tmp_path / "page.html"
    folder.symlink_to(MODELS / "relu")
    code, _, problems = export("--live", "--model", folder, "-o", file)
    assert code == 0, problems
    tags = markup(file.read_text(encoding="utf-8"))
    assert "b" not in tags.tags
    assert ("div", "id", "weights--b-it-s") in tags.attributes


@pytest.mark.parametrize("place", ["no folder/page.html", "file/page.html", "pipe"])
def test_the_place_is_looked_at_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A folder that is not there may be a slip: it is not made."""
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.iterdir())
    for work in ("opened", "_lecture"):
        monkeypatch.setattr(sys.modules["ffnviz.cli.export"], work, None)
    for arguments in ((), ("--lecture",)):
        code, _, problems = export(*arguments, "-o", tmp_path / place)
        assert code == 1
        assert problems.startswith(f"Error: {(tmp_path / place).parent}")
        assert "Traceback" not in problems
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--text", "  "], "it is empty. Give a sentence."),
        (["--lecture", "not-there.toml"], "not-there.toml' does not exist"),
        (["--text", "A cat.", "--worksheet"], "a worksheet is made from a lecture"),
        (["--folder", "site"], "it needs --live and a sentence"),
        (["--live", "--lecture", "--worksheet"], "nothing is typed on paper"),
        (["--live", "--lecture", "--folder", "site"], "it needs --live and a sentence"),
        (["--model", "no-such-folder/x/y"], "no-such-folder"),
    ],
)
def test_what_cannot_be_saved_is_said_so(tmp_path: Path, arguments: list[str], why: str) -> None:
    file = tmp_path / "page.html"
    code, _, problems = export(*arguments, "-o", file)
    assert code != 0
    assert why in problems
    assert "Traceback" not in problems
    assert not file.exists()
