"""What our pictures send does what it says; anything else that a browser sends does nothing."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head, numbers, place
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.exercises import drawing_cell, handles_cell
from ffnviz.pictures.ffn_picture import Stage, ffn_cell
from ffnviz.pictures.page import examples_cell
from ffnviz.pictures.tokens import Chips, NeuronCard
from ffnviz.pictures.votes import verdicts_cell

HEAD = Head("Seen.", "note", "relu")
VALUES = np.array([0.5, -1.0], dtype=np.float32)
BARS = Bars("", "ab", VALUES, "relu", np.array([7, 8]))
XY = (np.arange(3.0), np.arange(3.0))
FIGURE = {"data": [{"customdata": np.array([[3, 900], [7, 3]])}, {"x": np.arange(50)}]}
Say = Callable[..., None]


def card(say: Say) -> Cell:
    return NeuronCard(
        head=HEAD, title="", texts=["a", "b"], values=[0.5, -1.0], token=0, words=[], on_meet=say
    ).to_cell("k")


def chips(**said: Any) -> Cell:
    usual: dict[str, Any] = {
        "head": HEAD, "accent": "relu", "texts": ["a", "b"], "shares": [0.1, 0.2], "chosen": 0,
        "what": "", "hides": ["a", "b"], "on_choose": pytest.fail, "on_hide": pytest.fail,
    }  # fmt: skip
    return Chips(**{**usual, **said}).to_cell("k")


def picture(trigger: str) -> Callable[[Say], Cell]:
    def show(say: Say) -> Cell:
        said: dict[str, Any] = {"on_choose": print, trigger: say}
        stage = Stage("pre", "", "", "", VALUES, neurons=True, scale="")
        return ffn_cell(HEAD, [stage], [], np.arange(2), None, (1, ["a", "b"]), "k", **said)

    return show


def maps(trigger: str) -> Callable[[Say], Cell]:
    def show(say: Say) -> Cell:
        said: dict[str, Any] = {"on_choose": pytest.fail, "on_order": pytest.fail, trigger: say}
        shown = ActivationMap("gelu", "", "", "", np.zeros((2, 4)), np.arange(4), "ab", 0)
        return maps_cell(HEAD, [shown], ("gelu", 0), ("index", "strength"), "index", "k", **said)

    return show


# What mounts a picture, the trigger of a click, clicks with what they say, and clicks on nothing.
PICTURES: dict[str, tuple[Callable[[Say], Cell], str, list[Any], list[Any]]] = {
    "chips": (
        lambda say: chips(on_choose=say), "token", [(0, (0,)), (1, (1,))], [2],
    ),
    "chips hide": (lambda say: chips(on_hide=say), "hide", [(0, (0,)), (1, (1,))], [2]),
    "chips unhide": (
        lambda say: chips(hides=["", ""], unhides=["x", ""], on_unhide=say),
        "unhide", [(0, (0,)), (1, (1,))], [2],
    ),
    "chart": (
        lambda say: chart_cell(HEAD, FIGURE, "", "k", on_choose=say),
        "point", [(3, (3,)), (900, (900,))], [0, 4, 899],
    ),
    "bars": (
        lambda say: bars_cell(HEAD, [BARS], on_choose=say),
        "point", [(7, (7,))], [9, 7.0, "7", [7]],
    ),
    "ffn_picture": (picture("on_choose"), "neuron", [(1, (1,))], [2]),
    "ffn_picture token": (picture("on_token"), "token", [(0, (0,)), (1, (1,))], [2]),
    "examples": (
        lambda say: examples_cell([("t", ["One.", "Two."])], "k", on_choose=say),
        "sentence", [("Two.", ("Two.",))], ["Three.", "\ud800", "t"],
    ),
    "verdicts": (
        lambda say: verdicts_cell(HEAD, [("t", [])], "k", on_choose=say),
        "group", [(0, (0,))], [1],
    ),
    "drawing": (
        lambda say: drawing_cell("", [0, 0, 0], "relu", "k", on_draw=say),
        "curve", [([0, 0.5, -1], ([0, 0.5, -1],)), ([9, -10**400, 1e308], ([1, -1, 1],))],
        [[0, 0], [0, 0, "1"], [0, 0, None], [0, 0, True], [0, 0, float("nan")], [[0], 0, 0]],
    ),
    "handles": (
        lambda say: handles_cell(HEAD, [(0, 1), (3, 2), (9, 1)], 10, XY, XY, "", "k", say),
        "corners", [([0, 0, 4, 9, 9, 1], ([(0, 0), (4, 9), (9, 1)],))],
        [[0, 0, 4, 9], [1, 0, 4, 9, 9, 1], [0, 0, 9, 9, 4, 1], [0, 0, 0, 9, 9, 1],
         [0, 0, 4, 0.5, 9, 1], [0, 0, 4, "9", 9, 1]],
    ),
    "neuron_card": (
        card, "meet", [({"token": 1}, (1,)), ({"token": None}, (None,))],
        [{"token": 2}, {"token": "0"}, {}],
    ),
    "activation_map neuron": (
        maps("on_choose"), "neuron",
        [({"map": "gelu", "neuron": 3, "token": 1}, ("gelu", 3, 1))],
        [{"map": "gelu", "neuron": 4, "token": 1}, {"map": "gelu", "neuron": 3}, {"map": "gelu"},
         {"map": "/etc", "neuron": 3, "token": 1}, {"map": ["gelu"], "neuron": 3, "token": 1},
         {"map": "gelu", "neuron": 3, "token": 2}, {"neuron": 3}],
    ),
    "activation_map order": (
        maps("on_order"), "order", [("strength", ("strength",))], ["alphabet", ["strength"]],
    ),
    "activation_map cell": (
        maps("on_open"), "cell",
        [({"map": "gelu", "neuron": 3, "token": 1}, ("gelu", 3, 1))],
        [{"map": "gelu", "neuron": 3, "token": 2}],
    ),
}  # fmt: skip
NOTHING: list[Any] = [
    None, True, False, -1, 0.5, 1.0, 10**400, 1e999, float("nan"), "", "0", "x", [], [0], {},
    {"map": None, "neuron": None, "token": False, "stop": None, "done": 1},
    {"map": "gelu", "neuron": -1, "token": -1, "stop": -1},
    {"map": "gelu", "neuron": True, "token": True, "stop": True},
    {"map": "gelu", "neuron": 1.0, "token": 1.0, "stop": 1.0},
]  # fmt: skip


def send(name: str, value: Any) -> list[tuple[Any, ...]]:
    """Mounts a picture, sends it a click, and gives what it said."""
    show, trigger, _, _ = PICTURES[name]
    said: list[tuple[Any, ...]] = []
    show(lambda *what: said.append(what)).events[trigger](value)
    return said


@pytest.mark.parametrize("name", PICTURES)
def test_a_click_says_what_it_is_on(name: str) -> None:
    for value, said in PICTURES[name][2]:
        assert send(name, value) == [said]


@pytest.mark.parametrize("name", PICTURES)
def test_what_no_click_sends_does_nothing(name: str) -> None:
    for value in [*NOTHING, *PICTURES[name][3]]:
        assert send(name, value) == [], value


def test_an_ffn_is_switched_by_true_and_false_alone() -> None:
    said: list[Any] = []
    switch = picture("on_switch")(said.append).events["off"]
    for value in [*NOTHING, 0, 1, "true"]:
        switch(value)
    assert said == [True, False]  # those that NOTHING has


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
).map(lambda value: json.loads(json.dumps(value)))


@given(JSON, st.integers(0, 5))
def test_any_json_is_a_place_there_is_or_none(value: Any, n: int) -> None:
    found = place(value, n)
    assert found is None or (found in range(n) and type(found) is int)


@given(st.lists(JSON, max_size=3), st.integers(0, 3))
def test_any_json_is_so_many_numbers_in_their_range_or_none(value: list[Any], n: int) -> None:
    found = numbers(value, n, -1.0, 1.0)
    assert found is None or (len(found) == n and all(-1 <= each <= 1 for each in found))
