"""Every part of every page on the shortest and the longest sentences: what the browser is sent."""

import re

import pytest

from ffnviz.parts import PAGES
from ffnviz.parts.part import Page, Part
from tests.parts.visits import opened

TEXTS = {"one letter": "a", "as many masks as fit": "[MASK] " * 128}
# Timing measures the same on any sentence.
PARTS = [
    pytest.param(page, part, id=f"{page.name}-{part.name}")
    for page in PAGES[1:]
    for part in page.parts
    if page.name != "timing"
]


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
