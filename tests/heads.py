"""The sentences above the pictures, and the lines under them, as a page sends them."""

from collections.abc import Mapping
from typing import Any

import pytest

from ffnviz.app import measuring
from ffnviz.pictures import cell
from ffnviz.pictures.payload import pack
from tests.at_once import AtOnce


class Heads(list[str]):
    """The sentences, and by the names of their notes the lines `under` the pictures."""

    under: dict[str, str]


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> Heads:
    """What stands above the pictures and under them, as it is sent."""
    sent = Heads()
    sent.under = {}

    def packed(data: Mapping[str, Any], arrays: Any) -> bytes:
        if "head" in data:
            head = data["head"]
            sent.append("".join(text for text, _ in head["spans"]))
            sent.under[head["note"]] = "".join(text for text, _ in head["under"])
        return pack(data, arrays)

    monkeypatch.setattr(measuring, "JOB_POOL", AtOnce())
    monkeypatch.setattr(cell, "pack", packed)
    return sent
