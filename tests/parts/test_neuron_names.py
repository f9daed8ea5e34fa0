"""Name it: what is kept for a neuron stays that neuron's, and no link or file breaks the page."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.model import load
from ffnviz.parts.neurons import kept_names
from tests.parts.visits import TEXT, opened, query, unbroken
from tests.table import Table

LINE = '[["relu",2,469,"verbs"],["gelu",1,7,"numbers","","two, three"]]'


def boxes(app: AppTest) -> dict[str, str]:
    """What stands in the boxes of the guess."""
    return {box.label: str(box.value) for box in [*app.text_input, *app.selectbox]}


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click()
    unbroken(app.run())


def choose(app: AppTest, neuron: int) -> None:
    unbroken(app.number_input(key="neuron-number").set_value(neuron).run())


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (["/etc", 2, 5, "x"], "there is no network '/etc' here"),
        (["relu", 2, -7, "x"], "neuron is -7"),
        (["relu", 99, 7, "x"], "block is 99"),
    ],
)
def test_a_link_to_what_is_not_there_says_so_and_keeps_the_rest(
    row: list[object], why: str
) -> None:
    app = opened("neurons", part="name", names=json.dumps([row, ["relu", 2, 469, "verbs"]]))
    assert "cannot be shown" in app.error[0].value
    assert f"Entry 1: {why}" in app.text[0].value
    assert list(app.dataframe[0].value["name"]) == ["verbs"]


@pytest.mark.parametrize("name", ["\ud800", "\x00", "\ufffe", "\u202eabc", "e" + "\u0301" * 119])
def test_any_sign_can_stand_in_a_kept_name(name: str) -> None:
    app = opened("neurons", part="name", names=json.dumps([["relu", 2, 7, name]]), neuron="relu-7")
    assert not app.error
    assert list(app.dataframe[0].value["name"]) == [name.replace("\ud800", "\ufffd")]


@pytest.mark.parametrize("neuron", ["relu--7", "relu-2048", "/etc-7"])
def test_a_link_to_no_neuron_shows_the_strongest(neuron: str) -> None:
    app = opened("neurons", neuron=neuron)
    assert "neuron" not in query(app)
    strongest = load("relu").trace(TEXT).blocks[1].ffn.hidden[3].argmax()
    assert app.number_input(key="neuron-number").value == int(strongest)


def test_another_neuron_has_its_own_name_in_the_boxes() -> None:
    app = opened("neurons", part="name", neuron="relu-12", names=LINE)
    unbroken(app.text_input(key="setting-called").set_value("typed for 12").run())
    choose(app, 13)
    assert app.text_input(key="setting-called").value == ""
    assert next(b for b in app.button if b.label == "Keep this name").disabled
    choose(app, 469)
    assert app.text_input(key="setting-called").value == "verbs"
    unbroken(app.button_group(key="block").set_value(0).run())
    assert app.text_input(key="setting-called").value == ""
    unbroken(app.button_group(key="twin").set_value("gelu").run())
    choose(app, 7)
    assert app.text_input(key="setting-called").value == "numbers"
    assert app.text_input(key="setting-says").value == "two, three"


def test_a_link_shows_what_was_typed_for_its_neuron() -> None:
    app = opened("neurons", part="name", neuron="relu-469", names=LINE, tag="question")
    unbroken(app.text_input(key="setting-called").set_value("better").run())
    link = query(app)
    again = opened("neurons", **link)
    assert query(again) == link
    assert boxes(again) == boxes(app)
    assert boxes(again)["Your name for neuron 2:469"] == "better"
    choose(again, 12)
    assert boxes(again)["Your name for neuron 2:12"] == ""
    assert boxes(again)["Tag"] == "past"


def test_a_link_from_before_links_named_the_neuron_shows_what_was_typed() -> None:
    old = {"called": "mine", "guess": "words of my own", "says": "two"}
    app = opened("neurons", part="name", neuron="relu-12", **old)
    assert boxes(app)["Your name for neuron 2:12"] == "mine"
    assert boxes(app)["Words, with commas between them"] == "two"
    choose(app, 13)
    assert boxes(app)["Your name for neuron 2:13"] == ""


def test_a_name_is_kept_with_its_block() -> None:
    app = opened("neurons", part="name", neuron="relu-12", block="1")
    unbroken(app.text_input(key="setting-called").set_value("mine").run())
    press(app, "Keep this name")
    assert json.loads(query(app)["names"]) == [["relu", 1, 12, "mine", "past"]]


def test_a_row_of_the_table_leads_to_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    # AppTest cannot select a row; a button in its place calls what the table would.
    def table(*_: object, on_select: Callable[[], None], key: str, **__: object) -> None:
        def select() -> None:
            rows = SimpleNamespace(rows=[1])
            streamlit.session_state[key] = SimpleNamespace(selection=rows)
            on_select()

        streamlit.button("second row", on_click=select)

    monkeypatch.setattr(streamlit, "dataframe", table)
    app = opened("neurons", part="name", neuron="relu-469", block="2", names=LINE)
    press(app, "second row")
    shown = query(app)
    assert (shown["twin"], shown["block"], shown["neuron"]) == ("gelu", "1", "gelu-7")


def test_a_text_beyond_its_limit_is_cut() -> None:
    app = opened("neurons", part="compare", other="word " * 300)
    assert app.text_input(key="setting-other").value == ("word " * 300)[:500]
    app = opened("neurons", part="name", guess="words of my own", says="two, " * 300)
    assert app.text_input(key="setting-says").value == ("two, " * 300)[:480]


def test_a_long_set_of_neurons_is_cut_between_two_of_them() -> None:
    app = opened("neurons", part="switch", off="2:400-1709, " * 200)
    shown = app.text_input(key="setting-off").value
    assert shown == "2:400-1709, " * 83
    assert not app.error


@pytest.mark.parametrize(
    ("page", "part", "old", "new", "value"),
    [
        ("vocabulary", "parts", "word", "parts_word", "3"),
        ("neurons", "working", "word", "logit_word", "3"),
        ("dimensions", "cost", "length", "n_tokens", "2048"),
        ("lab", "hears", "length", "n", "20"),
    ],
)
def test_an_old_link_opens_what_it_opened(
    page: str, part: str, old: str, new: str, value: str
) -> None:
    shown = query(opened(page, part=part, **{old: value}))
    assert shown[new] == value
    assert old not in shown


def test_a_text_of_endless_blanks_has_a_short_url_and_says_what_is_left_out() -> None:
    text = "a" + " " * 70_000 + "[MASK]"
    app = opened("neurons", text=text)
    assert len(query(app)["text"]) <= 2_000
    assert app.session_state["text"] == text
    assert "too long" in app.warning[0].value


def test_a_file_is_read_entry_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken over are its good entries; a byte order mark does no harm."""
    table = Table(kept_names.NAMES)
    navigator = table.navigator()
    config = load("relu").encoder.config
    networks = {"relu": NetworkSize(config.n_blocks, config.d_ff)}
    rows = [["relu", 2, 5, "good"], ["/etc", 2, 5, "x"], ["relu", 2, -5, "x"]]
    state: dict[str, Any] = {}
    monkeypatch.setattr(streamlit, "session_state", state)
    kept_names.take(networks, navigator, "kept.json", "\ufeff" + json.dumps(rows))
    assert table.state.setting("names") == '[["relu",2,5,"good"]]'
    what, why = state[kept_names.PROBLEM]
    assert what == "1 name taken over; 2 left out."
    assert [line.split(":")[0] for line in why] == ["Entry 2", "Entry 3"]
    kept_names.take(networks, navigator, "bad.json", "{")
    assert table.state.setting("names") == '[["relu",2,5,"good"]]'
    assert "could not be taken over" in state[kept_names.PROBLEM][0]
