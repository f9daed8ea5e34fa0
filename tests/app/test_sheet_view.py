"""The component of a sheet: what travels to the browser, and what comes back from there."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.app import rail, sheet_view
from ffnviz.app.catalog import build_catalog
from ffnviz.app.session import Session
from ffnviz.app.visit import SHEET, VISIT, Visit
from ffnviz.parts.neurons import name as name_it
from ffnviz.parts.neurons.name import NAMES
from ffnviz.parts.sheet import Button, Choice, Control, Measurement, NumberBox, Switch
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sheet_message import KEPT, Browser, new_events
from ffnviz.state.actions import ChooseBlock, ChooseToken, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import (
    Values,
    choice_setting,
    count_setting,
    nearest,
    number_setting,
    text_setting,
)
from ffnviz.state.state import from_url
from tests.parts.visits import opened
from tests.sent_cells import sent_cells

KEEP = number_setting("keep", 5, 1, 100).with_control("Keep", (1.0, 5.0, 100.0), "{:g}%".format)
WORD = text_setting("word", longest=9).with_control("A word", example="moon")
KIND = choice_setting("kind", {"a": "one", "b": "two"}).with_control("Kind")
UNITS = count_setting("units", 8, 1, 64).with_control("Units")
HIDDEN = text_setting("of")


def test_a_cell_travels_once_and_again_to_a_browser_that_lost_it() -> None:
    app = opened("sparsity", part="keep")
    everything = set(sent_cells(app))
    assert {"rail", "chips", "concentration", "keep-words", "footer"} <= everything
    assert sent_cells(app.run()) == {}
    app.query_params["keep"] = "10"
    again = sent_cells(app.run())
    assert {"rail", "keep-words"} <= set(again)
    assert not {"chips", "examples", "footer"} & set(again), "what stayed is not sent again"
    browser: Browser = app.session_state[VISIT].browser
    assert new_events(browser, {"sheet": "a", "events": [], "lost": True}) == []  # as sheet.js says
    assert set(sent_cells(app.run())) == everything


def test_what_was_done_is_done_once_and_the_last_used_cells_are_known() -> None:
    browser = Browser()
    events = [{"number": n, "cell": "rail", "name": "move", "value": n} for n in (1, 2)]
    assert new_events(browser, {"sheet": "a", "events": events[:1]}) == [("rail", "move", 1)]
    assert new_events(browser, {"sheet": "a", "events": events}) == [("rail", "move", 2)]
    assert new_events(browser, {"sheet": "a", "events": events}) == []
    assert new_events(browser, None) == []  # a page that is being left has nothing
    assert len(new_events(browser, {"sheet": "loaded anew", "events": events})) == 2
    browser = Browser()
    assert all(browser.lacks(str(n)) for n in range(KEPT))
    assert not browser.lacks("0")
    assert browser.lacks("one more")
    assert browser.lacks("1"), "the browser has forgotten it"
    assert not browser.lacks("0")
    assert nearest((100, 10, 1), 4) == 1, "stops that grow by factors are compared by ratio"
    assert nearest((0, 10, 20), 4) == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["sheet", "events", "number", "cell", "name", "value", "done", "lost"]),
        inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_any_json_is_a_list_of_events(sent: Any) -> None:
    for cell, name, _ in new_events(Browser(), sent):
        assert isinstance(cell, str)
        assert isinstance(name, str)


def controls() -> list[Control]:
    return [
        KEEP, WORD, KIND, UNITS, HIDDEN, Button("Reset", Set({"keep": None})), Button("Off", None),
        Choice("Token", ["a", "b"], ChooseToken, 1), NumberBox("Block", 1, 0, 3, ChooseBlock),
        Switch("GPU", False, lambda on: ChooseBlock(int(on))),
    ]  # fmt: skip


@pytest.fixture
def cell() -> Cell:
    measurement = Measurement[None]("stages", (), lambda: None, lambda _: [])
    drawn = rail.rail_cell(controls(), Values({"keep": "5"}), {"stages": (measurement, False)})
    assert drawn is not None
    return drawn


def test_every_control_is_drawn_but_those_of_settings_without_a_label(cell: Cell) -> None:
    kinds = [(each["kind"], each["label"]) for each in cell.data["controls"]]
    assert kinds == [
        ("slider", "Keep"), ("text", "A word"), ("choice", "Kind"), ("number", "Units"),
        ("button", "Reset"), ("button", "Off"), ("choice", "Token"), ("number", "Block"),
        ("switch", "GPU"), ("measure", "Measure"),
    ]  # fmt: skip
    assert rail.rail_cell([HIDDEN], Values(), {}) is None


@pytest.mark.parametrize(
    ("event", "sent", "answer"),
    [
        ("move", {"name": "keep", "value": 2, "done": False}, (Set({"keep": "100"}), False)),
        ("move", {"name": "keep", "value": 0}, (Set({"keep": "1"}), True)),
        ("move", {"name": "word", "value": "<b>moonlight"}, (Set({"word": "<b>moonli"}), True)),
        ("move", {"name": "kind", "value": 1}, (Set({"kind": "b"}), True)),
        ("move", {"name": "units", "value": "999"}, (Set({"units": "64"}), True)),
        ("move", {"name": "Token", "value": 0}, (ChooseToken(0), True)),
        ("move", {"name": "Block", "value": "99"}, (ChooseBlock(3), True)),
        ("move", {"name": "GPU", "value": True}, (ChooseBlock(1), True)),
        ("press", "Reset", Set({"keep": None})),
        ("measure", "stages", ("measure", "stages")),
    ],
)  # fmt: skip
def test_a_control_asks_for_what_it_says(cell: Cell, event: str, sent: Any, answer: Any) -> None:
    assert cell.events[event](sent) == answer


@pytest.mark.parametrize("value", [None, True, -1, 3, 1.0, "x", "², ", [], {}, float("nan"), "٣"])
def test_what_no_control_sends_asks_for_nothing(cell: Cell, value: Any) -> None:
    for name in ("keep", "kind", "Token", "Block", "of", "no such setting", None):
        assert cell.events["move"]({"name": name, "value": value}) is None
    for event in ("move", "press", "measure"):
        assert cell.events[event](value) is None
    assert cell.events["press"]("Off") is None


def test_of_two_things_done_at_once_the_second_means_what_the_first_has_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = build_catalog()
    query = {"part": "name", "neuron": "relu-12", "text": "It rained."}
    asked: list[tuple[str, str, Any]] = [
        ("rail", "move", {"name": "called", "value": "rain", "done": False}),
        ("rail", "press", "Keep this name"),
    ]
    table: dict[str, Any] = {
        VISIT: Visit(state=from_url("neurons", query, catalog)), SHEET: SimpleNamespace(event=None),
    }  # fmt: skip
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(streamlit, "session_state", table)
    monkeypatch.setattr(sheet_view, "_component", lambda: lambda **given: drawn.update(given))
    monkeypatch.setattr(sheet_view, "new_events", lambda *_: asked)
    session = Session(catalog)
    make = lambda run, values: name_it.sheet(cast(Run, run), values)  # noqa: E731
    sheet_view.draw(session, make, name_it.SETTINGS, sheet_view.Frame(()))
    drawn["on_event_change"]()
    kept = Values(session.state.settings)[NAMES]
    assert '"rain"' in kept
