"""Every part of every page on the shortest and the longest sentences: what the browser is sent."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from ffnviz import measured
from ffnviz.components import declare
from ffnviz.components.payload import pack
from ffnviz.page import Page, Part
from ffnviz.pages import PAGES
from tests.at_once import AtOnce
from tests.pages.visits import opened

TEXTS = {"one letter": "a", "as many masks as fit": "[MASK] " * 128}
# Timing measures the same on any sentence.
PARTS = [
    pytest.param(page, part, id=f"{page.name}-{part.name}")
    for page in PAGES[1:]
    for part in page.parts
    if page.name != "timing"
]


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sentences above the pictures, as they are sent."""
    sent: list[str] = []
    registered = declare._registered

    def packed(data: Mapping[str, Any], arrays: Any) -> bytes:
        note(data)
        return pack(data, arrays)

    def note(data: Mapping[str, Any]) -> None:
        if "head" in data:
            sent.append("".join(span[0] for span in data["head"]["spans"]))

    def mount(data: Any, **more: Any) -> Any:
        if isinstance(data, Mapping):
            note(data)
        return registered()(data=data, **more)

    monkeypatch.setattr(measured, "POOL", AtOnce())
    monkeypatch.setattr(declare, "pack", packed)
    monkeypatch.setattr(declare, "_registered", lambda: mount)
    return sent


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(("page", "part"), PARTS)
def test_every_part_says_something_of_any_sentence(
    heads: list[str], page: Page, part: Part, text: str
) -> None:
    opened(page.name, text=text, part=part.name, words="2", block="1", twin="gelu", neuron="gelu-3")
    assert heads
    for sentence in heads:
        assert "nan" not in re.findall(r"\w+", sentence)
        if page.name == "vocabulary":
            shares = [float(share) for share in re.findall(r"(-?[\d.]+)%", sentence)]
            assert all(0 <= share <= 100 for share in shares)
