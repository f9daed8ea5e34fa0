"""The sentences above the pictures, and the lines under them, as a page sends them."""

from collections.abc import Mapping
from typing import Any

import pytest

from ffnviz.app import measuring
from ffnviz.parts import measurement
from ffnviz.pictures import cell, declare
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
    registered = declare._registered

    def packed(data: Mapping[str, Any], arrays: Any) -> bytes:
        note(data)
        return pack(data, arrays)

    def note(data: Mapping[str, Any]) -> None:
        if "head" in data:
            head = data["head"]
            sent.append("".join(text for text, _ in head["spans"]))
            sent.under[head["note"]] = "".join(text for text, _ in head["under"])

    def mount(data: Any, **more: Any) -> Any:
        if isinstance(data, Mapping):
            note(data)
        return registered()(data=data, **more)

    for module in (measurement, measuring):
        monkeypatch.setattr(module, "JOB_POOL", AtOnce())
    for module in (declare, cell):
        monkeypatch.setattr(module, "pack", packed)
    monkeypatch.setattr(declare, "_registered", lambda: mount)
    return sent
