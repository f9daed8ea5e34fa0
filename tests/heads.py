"""The sentences above the pictures, as a page sends them."""

from collections.abc import Mapping
from typing import Any

import pytest

from ffnviz import measured
from ffnviz.components import declare
from ffnviz.components.payload import pack
from tests.at_once import AtOnce


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
