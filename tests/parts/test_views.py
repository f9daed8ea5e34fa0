"""A part of several views shows the one that was chosen, or says why it cannot."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ffnviz.analysis.needs import Capability, capabilities
from ffnviz.models.encoder.model import load
from ffnviz.parts import PAGES
from ffnviz.parts.part import Part, View, part_of_views
from ffnviz.parts.sheet import Sheet, cells_of, resolved, row
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, count_setting
from tests.run_factory import run_of

LONGEST_LINE = 40
MANY = count_setting("many", 1, 0, 9).with_control("How many", range(10))


def made_of(words: str) -> View:
    """A view that only says so; it needs a partner, if it is about two networks."""

    def sheet(run: Run, values: Values) -> Sheet:
        return Sheet([row(text_cell("said", f"{words}: {run.card.label}, {values[MANY]}"))])

    needs = (Capability.PARTNER, Capability.WORD_HEAD)
    label = f"{words} network{'s' * (words == 'two')}"
    return View(label, sheet, (MANY,), needs if words == "two" else needs[1:])


def part() -> Part:
    """Of two networks, or of one."""
    return part_of_views("A part", "part", "a line", "a_view", {n: made_of(w) for n, w in (
        ("pair", "two"), ("one", "one"))})  # fmt: skip


def shown(sheet: Sheet) -> list[str]:
    """What its cells say."""
    rows = resolved(sheet, lambda _: None).rows
    return ["".join(text for text, _ in c.data["paragraphs"][0]) for c in cells_of(rows)]


def offered(sheet: Sheet) -> list[str]:
    """The views that one can choose."""
    *choices, many = sheet.controls or ()
    assert many is MANY
    return [
        words for each in choices if isinstance(each, Setting) for words in each.options.values()
    ]


def test_a_part_has_the_settings_of_all_views_once_and_is_missing_where_none_can_be_shown() -> None:
    view, *others = part().settings
    assert (view.name, view.label) == ("a_view", "Show")
    assert view.options == {"pair": "two networks", "one": "one network"}
    assert others == [MANY]
    alone = run_of(load("relu"), "The cat sat.")
    assert part().missing(alone) == ()  # one of the views needs no second network
    card = replace(alone.card, has_word_head=False)
    headless: Any = SimpleNamespace(capabilities=capabilities(card))
    lacking = part().missing(headless)
    assert lacking == (Capability.PARTNER, Capability.WORD_HEAD)  # the first view's


def test_the_chosen_view_is_shown_and_those_that_can_be_are_offered() -> None:
    alone = run_of(load("relu"), "The cat sat.")
    sheet = part().sheet(alone, Values({"a_view": "one", "many": "3"}))
    assert shown(sheet) == ["one: ReLU, 3"]
    assert offered(sheet) == [], "a choice of one is none"


def test_where_there_is_a_second_network_both_views_are_offered() -> None:
    alone = run_of(load("relu"), "The cat sat.")
    pair = replace(alone, partner=run_of(load("gelu"), "The cat sat.").subject)
    sheet = part().sheet(pair, Values())
    assert shown(sheet) == ["two: ReLU, 1"]
    assert offered(sheet) == ["two networks", "one network"]


def test_instead_of_what_cannot_be_shown_there_is_a_reason_and_another_view() -> None:
    sheet = part().sheet(run_of(load("relu"), "The cat sat."), Values())
    why, said = shown(sheet)
    assert why.startswith("“two networks” cannot be shown for this network. There is no second")
    assert said == "one: ReLU, 1"
    assert offered(sheet) == []


def test_a_line_says_in_a_few_words_what_one_sees() -> None:
    for page in PAGES:
        for each in page.parts:
            assert len(each.line) <= LONGEST_LINE
            assert each.line or page.name not in ("block", "sparsity", "dimensions")
