"""Which network stands beside the one that drives the page."""

from dataclasses import replace

import pytest

from ffnviz import session
from ffnviz.model.model import Model, load
from tests.pages.visits import opened, query, unbroken


def test_with_two_networks_there_is_nothing_to_choose() -> None:
    assert [box.label for box in opened("").selectbox] == []


def test_with_three_one_chooses_which_stands_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    def any_of_three(name: str, device: str) -> Model:
        return (
            replace(load("gelu", device), name="third") if name == "third" else load(name, device)
        )

    monkeypatch.setattr(session, "at_hand", lambda: dict.fromkeys(("relu", "gelu", "third")))
    monkeypatch.setattr(session, "open_at_hand", any_of_three)
    app = opened("")
    (box,) = app.selectbox
    assert box.value == "gelu"
    unbroken(box.select("third").run())
    assert query(app)["partner"] == "third"
    unbroken(app.button_group(key="twin").set_value("third").run())
    assert app.selectbox[0].value == "relu"
    assert query(app)["partner"] == "relu", "the two change places"
