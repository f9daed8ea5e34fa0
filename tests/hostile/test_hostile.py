"""A small run of `python -m tests.hostile`, and that it would find what it looks for."""

import pytest

from tests.hostile import pages

SEED = 7


def test_no_sentence_or_link_breaks_a_page() -> None:
    assert pages.try_sentences(40, SEED).faults == []
    assert pages.try_links(25, SEED).faults == []


def test_what_raises_or_hangs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = pages.Found()
    with found.timed("x"):
        int("lost")
    monkeypatch.setattr(pages, "HUNG_S", -1.0)
    with found.timed("z"):
        pass
    assert [fault.split()[0] for fault in found.faults] == ["raised", "took"]
