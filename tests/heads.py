"""The sentences above the pictures, and the lines under them, as a page sends them."""

import pytest

from ffnviz.app import measuring
from ffnviz.pictures.cell import Cell
from tests.at_once import AtOnce


class Heads(list[str]):
    """The sentences, and by the names of their notes the lines `under` the pictures."""

    under: dict[str, str]


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> Heads:
    """What stands above the pictures and under them, as it is sent."""
    sent = Heads()
    sent.under = {}

    def drawn(self: Cell) -> dict[str, tuple[str, bytes]]:
        if "head" in self.data:
            head = self.data["head"]
            sent.append("".join(text for text, _ in head["spans"]))
            sent.under[head["note"]] = "".join(
                text for text, kind in head["under"] if kind != "spare"
            )
        return packed(self)

    packed = Cell.packed
    monkeypatch.setattr(measuring, "JOB_POOL", AtOnce())
    monkeypatch.setattr(Cell, "packed", drawn)
    return sent
