"""Every part of every page on the shortest and the longest sentences: what the browser is sent."""

import re
from collections.abc import Mapping

import pytest

from ffnviz.parts import PAGES
from ffnviz.parts.places import MOVED
from tests.parts.visits import opened

TEXTS = {"one letter": "a", "as many masks as fit": "[MASK] " * 128}
PARTS: list[tuple[str, str, Mapping[str, str]]] = [
    *((page.name, part.name, {}) for page in PAGES[1:] for part in page.parts),
    *MOVED.values(),
    ("dimensions", "warp", {"warp_view": "line"}),
    ("lab", "linear", {"linear_view": "token"}),
    ("lab", "linear", {"linear_view": "together"}),
    ("neurons", "writes", {"writes_view": "memories"}),
    ("neurons", "writes", {"writes_view": "paths"}),
    ("neurons", "compare", {"compare_view": "patch"}),
]
MORE_THAN_ONE = re.compile(
    r"(?<![\d.,])1 (other )?(tokens|neurons|blocks|layers|steps|words|pieces)\b"
)
# These measure what the parts after them do, or nothing of the sentence: one is enough.
ONCE = ("claims", "fit")
# Timing measures the same on any sentence; Learn says nothing before somebody trains.
SHOWN = [
    pytest.param(page, part, view, text, id="-".join((page, part, *view.values(), name)))
    for page, part, view in PARTS
    for name, text in list(TEXTS.items())[: 1 if part in ONCE else None]
    if page not in ("timing", "learn")
]


@pytest.mark.parametrize(("page", "part", "view", "text"), SHOWN)
def test_every_part_says_something_of_any_sentence(
    heads: list[str], page: str, part: str, view: Mapping[str, str], text: str
) -> None:
    more = {"words": "2", "block": "1", "twin": "gelu", "neuron": "gelu-3"}
    opened(page, text=text, part=part, **more, **view)
    assert heads
    for sentence in heads:
        assert "nan" not in re.findall(r"\w+", sentence)
        assert not MORE_THAN_ONE.search(sentence)
        if page == "vocabulary":
            shares = [float(share) for share in re.findall(r"(-?[\d.]+)%", sentence)]
            assert all(0 <= share <= 100 for share in shares)
