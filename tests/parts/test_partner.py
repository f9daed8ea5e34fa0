"""Which network stands beside the one that drives the page."""

from dataclasses import replace
from typing import Any

import pytest
import streamlit

from ffnviz.analysis.writing import Strategy, begin, write_word
from ffnviz.app import session
from ffnviz.app.catalog import build_catalog
from ffnviz.app.rail import network_cell
from ffnviz.app.visit import VISIT, Visit
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import Model, load
from ffnviz.pictures.cell import Cell
from ffnviz.state import run_factory
from ffnviz.state.actions import reduce
from ffnviz.state.state import from_url
from tests.parts.sheets import drawn
from tests.parts.visits import TEXT, opened
from tests.sent_cells import sent_cells


def test_with_two_networks_there_is_nothing_to_choose() -> None:
    (network, block, _) = sent_cells(opened(""))["network"]["controls"]
    assert (network["options"], block["options"]) == (["ReLU", "GELU"], ["block 1", "block 2"])


def test_with_three_one_chooses_which_stands_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    def any_of_three(name: str, device: str) -> Model:
        return (
            replace(load("gelu", device), name="third") if name == "third" else load(name, device)
        )

    monkeypatch.setattr(
        session, "available_networks", lambda: dict.fromkeys(("relu", "gelu", "third"))
    )
    monkeypatch.setattr(run_factory, "open_network", any_of_three)
    catalog = build_catalog()
    state = from_url("journey", {"text": TEXT}, catalog)

    def beside() -> tuple[dict[str, Any], Cell]:
        monkeypatch.setattr(streamlit, "session_state", {VISIT: Visit(state=state)})
        cell = network_cell(session.Session(catalog), None)
        assert cell is not None
        (box,) = (each for each in cell.data["controls"] if each["label"] == "Beside it")
        return box, cell

    box, cell = beside()
    assert box["options"][box["stop"]] == "beside GELU"
    action, _ = cell.events["move"]({"name": "Beside it", "value": 1})
    state = reduce(state, action, catalog)
    assert state.partner == "third"
    action, _ = beside()[1].events["move"]({"name": "Network", "value": 2})
    state = reduce(state, action, catalog)
    assert (state.network, state.partner) == ("third", "relu"), "the two change places"
    box, _ = beside()
    assert box["options"][box["stop"]] == "beside ReLU"


def test_what_one_network_wrote_is_not_shown_as_anothers_of_that_name_and_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = load("gelu")
    other = replace(known, name="other", encoder=initial_encoder(known.encoder.config, 3).eval())
    assert (other.card.label, other.card.colour) == (known.card.label, known.card.colour)
    monkeypatch.setattr(session, "available_networks", lambda: dict.fromkeys(("gelu", "other")))
    monkeypatch.setattr(
        run_factory, "open_network", lambda name, _: {"gelu": known, "other": other}[name]
    )
    run_factory.forget_networks()
    drawn("vocabulary", "write", text=TEXT, words="2", twin="gelu")
    shown = drawn("vocabulary", "write", text=TEXT, words="2", twin="other")
    own = begin(other, TEXT)
    for _ in range(2):
        own = write_word(other, own, Strategy())
    assert own.written.strip() in shown.said
    run_factory.forget_networks()
