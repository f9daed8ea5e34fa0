"""What Python sends of each picture has the type that the picture's script declares, to the field.

`deno check` holds the scripts to these types, and here what is sent; so a field that is renamed on
one side alone fails.
"""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffnviz.app.rail import rail_cell
from ffnviz.export.bundle import pictures_listed
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

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "ffnviz" / "pictures" / "static"
# loading.js makes these of NumPy's.
ARRAYS = {
    "float16": "Float32Array",
    "float32": "Float32Array",
    "uint16": "Uint16Array",
    "int32": "Int32Array",
    "uint8": "Uint8Array",
}
PICTURES = pictures_listed()
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


def literal(value: Any) -> str:
    """A value as TypeScript has it; an array without its numbers."""
    if isinstance(value, np.ndarray):
        return f"new {ARRAYS[value.dtype.name]}()"
    if isinstance(value, Mapping):
        fields = (f"{json.dumps(name)}: {literal(each)}" for name, each in value.items())
        return f"{{{', '.join(fields)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    return json.dumps(value)


def picture_sent(picture: str) -> str:
    """What the update of a picture gets: of each cell its data and arrays, and no other field."""
    made = cells()[picture]
    assert made
    values = []
    for cell in made:
        shapes = {name: list(array.shape) for name, array in cell.arrays.items()}
        values.append({**cell.data, "arrays": cell.arrays, "shapes": shapes})
    fields = " | ".join(json.dumps(name) for name in sorted(set[str]().union(*values)))
    never_sent = dict.fromkeys(ADDED.get(picture, ()), True)
    has_arrays = any(cell.arrays for cell in made)
    listed = PICTURES[picture]
    declared = f"{listed.mount.removeprefix('mount')}Data"
    return f"""
    import type {{ {declared} as Data }} from "{SCRIPTS}/{listed.script}";
    export const sent: (Data & {{ arrays?: object, shapes?: object }})[] = {literal(values)};
    export const neverSent: Record<Exclude<keyof Data, {fields}>, true> = {literal(never_sent)};
    export const read: (keyof Data)[] = {literal(["arrays"] * has_arrays)};
    """


def sheets_sent() -> str:
    """A sheet, with what only some pages have and without it."""
    cell, other = cells()["points"][0], cells()["text"][0]
    header, arrays = message(Browser(handled={"a": 3}), [cell, other], "stamp")
    where = laid_out([[(0.5, [cell])]], above=[other])
    of_the_page = {"pale": ["text"], "place": "Learn loss", "emptied": False}
    assert arrays
    views = [{**header, **where, **more, "arrays": arrays} for more in ({}, of_the_page)]
    return f"""
    import type {{ View }} from "{SCRIPTS}/sheet.js";
    export const sent: View[] = {literal(views)};
    """


def class_told() -> str:
    """What its lecturer and its students are told of a class."""
    place = ClassPosition("Lab", scene=3)
    live = LiveClass("ABC", 1, 2, place, frozenset({3}), {3: [1, 2]}, 4, 5)
    events = [live.to_event(lecturer) for lecturer in (True, False)]
    return f"""
    import type {{ LiveClass }} from "{SCRIPTS}/classroom_connection.js";
    export const told: LiveClass[] = {literal(events)};
    """


# Deno complains here if it would let one of these pass.
WRONG = f"""
    import type {{ TextData as Data }} from "{SCRIPTS}/head.js";
    // @ts-expect-error: a field is missing
    export const missing: Data = {{ tone: "" }};
    // @ts-expect-error: one is unknown
    export const unknown: Data = {{ paragraphs: [], tone: "", colour: "" }};
    // @ts-expect-error: one has another type
    export const other: Data = {{ paragraphs: [["a"]], tone: "" }};
    """


def test_what_is_sent_is_what_the_scripts_read(tmp_path: Path) -> None:
    written = {picture: picture_sent(picture) for picture in PICTURES}
    written |= {"sheet_view": sheets_sent(), "live_class": class_told(), "wrong": WRONG}
    for name, text in written.items():
        (tmp_path / f"{name}.ts").write_text(text, encoding="utf-8")
    check = [sys.executable, "-m", "deno", "check", "--quiet", "--no-remote", "--no-npm"]
    where = ["--config", str(ROOT / "deno.jsonc"), str(tmp_path)]
    env = {**os.environ, "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"}
    told = subprocess.run([*check, *where], env=env, capture_output=True, text=True, timeout=600)
    assert told.returncode == 0, told.stderr
