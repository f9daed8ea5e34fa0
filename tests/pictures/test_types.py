"""What Python sends of each picture has the type that the picture's script declares, to the field.

`deno check` holds the scripts to these types; so a field that is renamed on one side alone fails.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from ffnviz.app.rail import rail_cell
from ffnviz.lecture.classroom.live_class import ClassPosition, LiveClass
from ffnviz.parts.sheet import Button, Choice, Download, NumberBox, Switch, Upload
from ffnviz.pictures.bars import Bars, replay_cell
from ffnviz.pictures.block_picture import MapStation, block_map_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.exercises import Gap, Step, Table, by_hand_cell
from ffnviz.pictures.page import PartList
from ffnviz.pictures.sheet_message import Browser, laid_out, message
from ffnviz.state.actions import Set
from ffnviz.state.settings import Setting, Values
from tests.browser import shown
from tests.pictures.jsdoc import SCRIPTS, Fields, faults, type_of, types_in

PICTURES = sorted(re.findall(
    r"  (\w+): \(\) => import", (SCRIPTS / "shell.js").read_text(encoding="utf-8")
))  # fmt: skip
# What block_picture.js adds, play_journey.js for files, and view_widget.py for notebooks.
ADDED = {"block_picture": {"playing"}, "chips": {"stays"}, "neuron_card": {"action", "stays"}}


def never(*_: object) -> Any:
    """Nobody clicks here."""


def rail(seed: int) -> Cell:
    """Every kind of control."""
    words: Any = {"a": "one", "b": "two"}  # of the entries
    some = Setting[tuple[str, ...]]("some", (), tuple, "".join, options=words, label="Some")
    cell = rail_cell([
        some, Button("Reset", None if seed else Set({})), Switch("GPU", True, never),
        Choice("Token", ["a", "b"], never), Choice("Step", ["a", "b"], never, 1, style="slider"),
        Choice("Network", ["a", "b"], never, style="menu"), NumberBox("Block", 1, 0, 3, never),
        Download("Save", "a.txt", "text/plain", "a"), Upload("Open", ".json", 9, never),
    ], Values(), {})  # fmt: skip
    assert cell
    return cell


def exercise(_: int) -> Cell:
    """A gap that reads another."""
    gap = Gap("z", 1.0, (), 0.1, [(0, 0.5)], 0.0, relu=True, uses=[(0, None, 1), (0, 0, None)])
    return by_hand_cell("k", shown.HEAD, "e", [Step("z", [Table("x", [["1"]])], [gap])], [], never)


def replay(_: int) -> Cell:
    """Bars at a moment, with all that bars can have."""
    bars = Bars(
        "t", ["a", "b"], np.array([0.5, 1.0]), ["relu", "muted"], np.array([3, 4]),
        frozenset("a"), ["one", "two"],
    )  # fmt: skip
    return replay_cell(shown.HEAD, [("At first", [bars])], "k")


def block_map(_: int) -> Cell:
    """A station."""
    station = MapStation("expand", "W", "Expand", True, [("Part", "Page")], None)
    return block_map_cell([station], "k", never)


def part_list(_: int) -> Cell:
    """Two parts."""
    parts = [("One", "line"), ("Two", "")]
    shown = PartList(label="Parts", parts=parts, chosen=1, away=["None."], on_choose=never)
    return shown.to_cell("k")


MORE: list[Callable[[int], Cell]] = [rail, exercise, replay, block_map, part_list]


@cache
def cells() -> Mapping[str, list[Cell]]:
    """Cells of every picture."""
    made = [make(seed) for make in MORE for seed in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shown, "mount_cell", lambda cell, *_: made.append(cell))
        for show in shown.ALL.values():
            for seed in range(4):
                show(seed, **({"n_tokens": 3} if "n_tokens" in inspect.signature(show).parameters
                              else {}))  # fmt: skip
    return {name: [cell for cell in made if cell.picture == name] for name in PICTURES}


def sent(cell: Cell, fields: Fields) -> dict[str, Any]:
    """What a picture's update gets; arrays, if its script says which."""
    shapes = {name: list(array.shape) for name, array in cell.arrays.items()}
    arrays = {"arrays": cell.arrays, "shapes": shapes}
    assert "arrays" in fields.types or not cell.arrays
    return {**cell.data, **{name: each for name, each in arrays.items() if name in fields.types}}


@pytest.mark.parametrize("picture", PICTURES)
def test_what_is_sent_is_what_the_script_reads(picture: str) -> None:
    declared, _ = types_in(picture)["Data"]
    assert isinstance(declared, Fields)
    all_sent = [sent(cell, declared) for cell in cells()[picture]]
    assert all_sent
    assert [fault for each in all_sent for fault in faults(each, declared, picture)] == []
    never_sent = declared.types.keys() - set[str]().union(*all_sent)
    assert never_sent == ADDED.get(picture, set())


def test_a_sheet_is_what_its_script_reads() -> None:
    cell, other = cells()["points"][0], cells()["text"][0]
    header, arrays = message(Browser(handled={"a": 3}), [cell, other], "stamp")
    where = laid_out([[(0.5, [cell])]], above=[other])
    of_the_page = {"pale": ["text"], "place": "Learn loss", "emptied": False}
    declared, _ = types_in("sheet")["View"]
    assert arrays
    for more in ({}, of_the_page):
        assert faults({**header, **where, **more, "arrays": arrays}, declared, "sheet") == []


@pytest.mark.parametrize("lecturer", [True, False])
def test_what_a_class_is_told_is_what_its_script_reads(lecturer: bool) -> None:
    place = ClassPosition("Lab", scene=3)
    live = LiveClass("ABC", 1, 2, place, frozenset({3}), {3: [1, 2]}, 4, 5)
    declared, _ = types_in("classroom_connection")["LiveClass"]
    assert faults(live.to_event(lecturer), declared, "classroom_connection") == []


@pytest.mark.parametrize(
    ("type_", "right", "wrong"),
    [
        ("{ a: string, b?: number }", {"a": ""}, {"a": "", "c": 1}),
        ("{ a: string, b?: number }", {"a": "", "b": 1}, {"b": 1}),
        ("string | null", None, 1),
        ("number", 1, True),
        ('{ kind: "a" | "b" }', {"kind": "b"}, {"kind": "c"}),
        ("(string | number)[]", ["a", 1], [None]),
        ("[string, number[]][]", [("a", [1])], [("a", [1], 2)]),
        ("Record<string, boolean>", {"a": True}, {"a": 1}),
        ("{ a: string } & { b: string }", {"a": "", "b": ""}, {"a": ""}),
        ("Float32Array", np.zeros(1, np.float16), np.zeros(1, np.int32)),
    ],
)
def test_a_value_of_another_type_is_seen(type_: str, right: Any, wrong: Any) -> None:
    declared, rest = type_of(type_)
    assert rest == ""
    assert faults(right, declared, "head") == []
    assert faults(wrong, declared, "head") != []
