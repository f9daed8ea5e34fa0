"""All parts: what they show of any sentence, where they stand and lead, and what they cost."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ffnviz.analysis.needs import Capability
from ffnviz.app.catalog import build_catalog
from ffnviz.app.page_controls import block_map
from ffnviz.lecture.lecture import PICTURES as NOTES
from ffnviz.models.encoder.model import load
from ffnviz.parts import PAGES
from ffnviz.parts.block import block_view
from ffnviz.parts.journey.ffn import DOORS
from ffnviz.parts.part import Page, View, part_of_views
from ffnviz.parts.places import (
    EVERYWHERE,
    MOVED,
    OF_OTHERS,
    PICTURES,
    PLACES,
    STATIONS,
    parts_at,
    pictures_of,
)
from ffnviz.parts.sheet import Measurement, Row, Sheet, Soon, cells_of, resolved, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import OpenPage
from ffnviz.state.run import Run
from ffnviz.state.run_factory import CACHE, make_run
from ffnviz.state.settings import Values, count_setting
from ffnviz.state.state import from_url
from tests.parts.sentence_cost import LIMITS, sentence_cost
from tests.parts.sheets import drawn, words
from tests.parts.visits import opened
from tests.pictures.schema import checked
from tests.run_factory import run_of

TEXTS = {"one letter": "a", "as many masks as fit": "[MASK] " * 128}
LINKS: list[tuple[str, str, Mapping[str, str]]] = [
    *((page.name, part.name, {}) for page in PAGES[1:] for part in page.parts),
    *MOVED.values(),
    ("dimensions", "warp", {"warp_view": "line"}),
    ("lab", "linear", {"linear_view": "token"}),
    ("lab", "linear", {"linear_view": "together"}),
    ("neurons", "writes", {"writes_view": "memories"}),
    ("neurons", "writes", {"writes_view": "paths"}),
    ("neurons", "compare", {"compare_view": "patch"}),
]
PARTS = [link for at, link in enumerate(LINKS) if link not in LINKS[:at]]
MORE_THAN_ONE = re.compile(
    r"(?<![\d.,])1 (other )?(tokens|neurons|blocks|layers|steps|words|pieces)\b"
)
# These measure what the parts after them do, or nothing of the sentence: one is enough.
ONCE = ("claims", "fit", "cost")
# Timing measures the same on any sentence; Learn says nothing before somebody trains.
SHOWN = [
    pytest.param(page, part, view, text, id="-".join((page, part, *view.values(), name)))
    for page, part, view in PARTS
    for name, text in list(TEXTS.items())[: 1 if part in ONCE else None]
    if page not in ("timing", "learn")
]


GARBAGE: tuple[Any, ...] = (None, True, -1, 10**9, 0.5, "/etc", "", [None], {}, {"name": "x"})
BUTTONS = {"next", "lead", "another", "measure", "cancel"}  # say nothing but that they were pressed


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """The pictures and texts that a page sends."""
    sent: list[Cell] = []
    packed = Cell.packed

    def kept(self: Cell) -> dict[str, tuple[str, bytes]]:
        sent.append(self)
        return packed(self)

    monkeypatch.setattr(Cell, "packed", kept)
    return sent


def with_arrays(value: Any, arrays: Mapping[str, Any]) -> Any:
    """A figure as its script puts it together again."""
    if isinstance(value, dict):
        if value.keys() == {"array"}:
            return arrays[value["array"]]
        return {name: with_arrays(inner, arrays) for name, inner in value.items()}
    return [with_arrays(each, arrays) for each in value] if isinstance(value, list) else value


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("page", "part", "view", "text"), SHOWN)
def test_every_part_speaks_of_any_sentence_and_takes_no_garbage(
    heads: list[str], cells: list[Cell], page: str, part: str, view: Mapping[str, str], text: str
) -> None:
    more = {"words": "2", "block": "1", "twin": "gelu", "neuron": "gelu-3", "n": "4"}
    opened(page, text=text, part=part, **more, **view)
    assert heads
    for sentence in heads:
        assert "nan" not in re.findall(r"\w+", sentence)
        assert not MORE_THAN_ONE.search(sentence)
        if page == "vocabulary":
            shares = [float(share) for share in re.findall(r"(-?[\d.]+)%", sentence)]
            assert all(0 <= share <= 100 for share in shares)
    assert cells
    for cell in cells:
        if cell.picture == "chart":
            checked(with_arrays(cell.data["figure"], cell.arrays))  # plotly's schema allows it
        taken = {
            (cell.key, event): [sent for sent in GARBAGE if ask(sent) is not None]
            for event, ask in cell.events.items()
            if event not in BUTTONS
        }
        assert not any(taken.values()), taken


TEXT = "The king sat on his [MASK]."
OF_A_CLASS = {"class-neurons", "class-sentences"}
# What the twins, a CPU or a page before its training do not have.
ELSEWHERE = {*OF_OTHERS, "devices", "features", "paths", "paths-blocks"}


def noted(shown: Iterable[Any]) -> Iterator[str]:
    """The notes of what stands on a sheet, and of what will."""
    for each in shown:
        if isinstance(each, Row):
            yield from (name for column in each.columns for name in noted(column.cells))
        elif isinstance(each, Measurement):
            yield from noted(each.before)
        elif isinstance(each, Soon):
            yield each.note
        elif isinstance(each, Cell) and (each.data.get("head") or {}).get("note"):
            yield each.data["head"]["note"]


WHOLE = ("journey", "learn")  # pages about the way through all of the network
LONGEST_LINE = 40


def test_each_part_has_a_place_notes_and_a_line() -> None:
    of_parts = {*EVERYWHERE, *(name for names in PICTURES.values() for name in names)}
    assert of_parts | OF_A_CLASS == set(NOTES)
    parts = {(page.name, part.name) for page in PAGES for part in page.parts}
    assert set(PLACES) == {(page, part) for page, part in parts if page not in WHOLE}
    assert {each for places in PLACES.values() for each in places} <= set(STATIONS)
    for page in PAGES:
        for each in page.parts:
            assert len(each.line) <= LONGEST_LINE
            assert each.line or page.name not in ("block", "sparsity", "dimensions")


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_part_shows_what_the_table_says(page: Page) -> None:
    catalog = build_catalog()
    for part in page.parts:
        views = {view for at, name, view in PICTURES if (at, name) == (page.name, part.name)}
        choice = part.settings[0] if part.settings else None
        if views != {""}:
            assert choice is not None
            assert views == set(choice.options or ())
        for view in views:
            more = {choice.name: view} if view and choice else {}
            state = from_url(page.name, {"text": TEXT, "part": part.name, **more}, catalog)
            run = make_run(state, "cpu", catalog.networks)
            shown = set(noted(part.sheet(run, Values(state.settings)).rows))
            listed = {*pictures_of(state)} - {*EVERYWHERE}
            if page.name == "learn" or listed <= ELSEWHERE | {"writes"}:
                continue
            assert shown == listed, (part.name, view)


@pytest.mark.parametrize("station", STATIONS)
def test_a_station_leads_to_what_is_about_it(station: str) -> None:
    page = next(each for each in PAGES if each.name == "sparsity")
    cell = block_map(page, page.part("bend"), run_of(load("relu"), "The [MASK] sat."))
    at = list(STATIONS).index(station)
    drawn = cell.data["stations"][at]
    assert drawn["lit"] == (station == "activation")
    assert drawn["parts"], "a station leads somewhere"
    titles = {(its.title, to.title): (to.name, its.name) for to, its in parts_at(station)}
    for place, (part, title) in enumerate(drawn["parts"]):
        assert cell.events["go"]({"station": at, "part": place}) == OpenPage(*titles[part, title])
    assert cell.events["go"]({"station": at, "part": len(drawn["parts"])}) is None
    assert cell.events["go"]({"station": 99, "part": 0}) is None


@pytest.mark.parametrize("stage", DOORS)
def test_a_door_leads_to_a_part_by_its_title(stage: str) -> None:
    title, page, part = DOORS[stage]
    titles = {(each.name, its.name): its.title for each in PAGES for its in each.parts}
    assert titles[page, part] == title
    cell = drawn("journey", "journey").cells["ffn"]
    shown = {each["name"]: each["door"] for each in cell.data["stages"]}
    assert shown[stage] == title
    assert cell.events["door"](stage) == OpenPage(page, part)
    assert cell.events["door"]("elsewhere") is None


def test_each_station_of_the_block_has_doors_to_parts_by_their_titles() -> None:
    titles = {(its.title, to.name, its.name) for to in PAGES for its in to.parts}
    assert {each for doors in block_view.DOORS.values() for each in doors} <= titles
    cell = drawn("block", "decoder").cells["decoder-picture"]
    for station in cell.data["stations"]:
        wanted = block_view.DOORS[station["kind"]]
        assert station["doors"] == [title for title, _, _ in wanted]
        for at, (_, page, name) in enumerate(wanted):
            asked = {"station": station["name"], "door": at}
            assert cell.events["door"](asked) == OpenPage(page, name)
    assert cell.events["door"]({"station": "nowhere", "door": 0}) is None
    assert cell.events["door"]({"station": cell.data["stations"][0]["name"], "door": 9}) is None


MANY = count_setting("many", 1, 0, 9).with_control("How many", range(10))


def view_of(label: str, *needs: Capability) -> View:
    """A view that says what it is, with a setting that others have, too."""

    def sheet(_: Run, values: Values) -> Sheet:
        return Sheet([row(text_cell("said", f"{label}: {values[MANY]}"))])

    return View(label, sheet, (MANY,), needs)


VIEWS = {"pair": view_of("two networks", Capability.PARTNER), "one": view_of("one network")}


def test_a_part_offers_the_views_that_can_be_shown_and_says_why_another_is_not() -> None:
    part = part_of_views("A part", "part", "a line", "a_view", VIEWS)
    choice, *others = part.settings
    assert others == [MANY], "once, though both views have it"
    alone = run_of(load("relu"), "The cat sat.")
    pair = replace(alone, partner=run_of(load("gelu"), "The cat sat.").subject)
    assert part.missing(alone) == (), "one of the views needs no second network"

    def shown(run: Run, chosen: str) -> tuple[list[str], list[Any]]:
        sheet = part.sheet(run, Values({"a_view": chosen, "many": "3"}))
        cells = cells_of(resolved(sheet, lambda _: None).rows)
        return [words(cell) for cell in cells], list(sheet.controls or ())

    offered = replace(choice, options={"pair": "two networks", "one": "one network"})
    assert shown(pair, "pair") == (["two networks: 3"], [offered, MANY])
    assert shown(alone, "one") == (["one network: 3"], [MANY]), "a choice of one is none"
    (why, said), controls = shown(alone, "pair")
    assert why.startswith("“two networks” cannot be shown for this network. There is no second")
    assert (said, controls) == ("one network: 3", [MANY])


def test_nothing_is_computed_or_sent_beyond_its_limit() -> None:
    CACHE.clear()
    found = sentence_cost()
    assert found.keys() == LIMITS.keys()
    assert {name: n for name, n in found.items() if n > LIMITS[name]} == {}
    assert found["products, sentence"] >= 16
    assert found["products, token"] > 0
