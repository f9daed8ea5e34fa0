"""A small run of `python -m tests.hostile`, and that it would find what it looks for."""

from pathlib import Path

import pytest

from tests.hostile import files, pages
from tests.hostile.fault import Found

SEED = 7


def test_no_sentence_or_link_breaks_a_page() -> None:
    assert pages.try_sentences(40, SEED).faults == []
    assert pages.try_links(25, SEED).faults == []


def test_damaged_and_odd_files_are_refused_in_words(model_folder: Path, tmp_path: Path) -> None:
    found = files.try_folders(150, SEED, model_folder, tmp_path)
    assert found.faults == []
    assert 100 <= found.refused <= found.tried == 150
    for found in (files.try_names(150, SEED), files.try_corpora(60, SEED, tmp_path)):
        assert found.faults == []
        assert found.refused > 10


def test_what_raises_hangs_or_says_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Found()
    with found.timed("x"):
        int("lost")
    files.said(ValueError(" "), found, "y")
    monkeypatch.setattr("tests.hostile.fault.HUNG_S", -1.0)
    with found.timed("z"):
        pass
    assert [fault.what.split()[0] for fault in found.faults] == ["raised", "was", "took"]
