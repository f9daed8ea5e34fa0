"""Every part of every page at every size, from a phone to a wall, for every eye; nothing jumps."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from ffnviz.parts import PAGES
from ffnviz.parts.part import Page, Part
from tests.browser.conftest import OpenPage
from tests.browser.journey import LOOK_MS, PAINTED, PATIENCE_MS, Journey
from tests.browser.looks import FRAMES, ON_ITS_SIDE, PHONE, resized, seen_at, violations
from tests.parts.test_sparsity_sheets import percents

START = "She opened the [MASK] and looked out."
# What nobody had in mind; shorter and longer ones: tests/parts/test_all_parts.py.
ODD = {"text": '👩\u200d👩\u200d👧 <b>x</b> 你好 """\\{x}',
       "twin": "gelu", "block": "1", "neuron": "gelu-3"}  # fmt: skip

ASKED_FOR = {"features ★"}  # views that are offered by a server that was given what they show
MEASURED_MS = 4 * PATIENCE_MS  # "How much fits" takes 7 s of a core, and jobs before it their own
# Which say the same of any sentence, and measure for seconds: they are seen at all sizes at once.
OF_NO_SENTENCE = {"fit", "fit by hand", "plant how much fits ★"}
IN_WORDS = {"CPU and GPU", "later neurons ★"}  # without a GPU, and after the last block
# What projectors, laptops and screens have, beside the two that pages are opened at: one of them on
# every part, all of them on the sheets that fill a window to its edges.
HALL, LAPTOP = (1920, 1080), (1280, 720)
MORE_SIZES = ((1024, 576), (1366, 768), (1440, 900), (1536, 864), (2560, 1440))
HARDEST = ("journey", "block")
BOXES = Path(__file__).with_name("boxes.js").read_text(encoding="utf-8")
TOKENS = (0, 3)  # of “She opened the [MASK] and looked out.”; the last is hidden
NEURONS = (".clickable li:visible", ".card li button:visible", ".heads button:visible")
# What a view may change: the pictures, and the controls below it.
AROUND = re.compile("(bar|chips|network|examples|part-list|block-map|below|footer|rail) ")
OTHERS = re.compile("rail [a-z]+ [1-9]")  # the controls below the views
PICTURES = ".sheet > .rows"
STICKS_OUT = "(main) => main.scrollHeight > main.clientHeight"
SLACK = 1  # pixels that rounding may make
INVITATION = '[data-cell$="-invitation"]'


def views(page: Page) -> Iterator[tuple[Part, str]]:
    """Each part with the words of each of its views, "" for the first."""
    for part in page.parts:
        yield part, ""
        for choice in part.settings:
            if choice.name.endswith("_view"):
                others = list(choice.options.values())[1:]
                yield from ((part, words) for words in others if words not in ASKED_FOR)


def turned(journey: Journey, page: Page, part: Part, view: str = "") -> None:
    """Turn to a part or, where it is, to one of its views, and wait for the pictures.

    What is measured there is measured by itself.
    """
    if view:
        journey.page.get_by_role("radio", name=view, exact=True).click()
        journey.answered()
    elif len(page.parts) > 1:
        journey.choose_part(part.title).answered()
    named = "" if part is page.parts[0] else part.name
    journey.page.wait_for_function(
        """(name) => (new URLSearchParams(location.search).get("part") ?? "") === name &&
        document.querySelector('[data-test-script-state="notRunning"]')""",
        arg=named,
    )
    if view not in IN_WORDS and page.name != "learn":  # before somebody trains there are words
        journey.page.wait_for_function(PAINTED, arg="", timeout=MEASURED_MS, polling=LOOK_MS)
        journey.page.locator(".sheet > .rows .sentence:visible").first.wait_for(
            timeout=MEASURED_MS
        )  # what is measured has been


def opened(journey: Journey, page: Page, **query: str) -> Journey:
    """The page on a sentence."""
    asked = {"text": START, "words": "3", "repeats": "5"} | query
    journey.page.goto(f"{journey.address}/{page.name}?{urlencode(asked)}")
    journey.page.locator(".row [aria-pressed]").first.wait_for()
    return journey


def faults(journey: Journey, page: Page, view: str, rules: Sequence[str] = ()) -> dict[str, Any]:
    """What is wrong with a view at any size: axe complains by these rules, or it says nonsense.

    What stands around the pictures axe looks at with the first view of a part only.
    """
    found: dict[str, Any] = {"axe": violations(journey.page, rules, PICTURES if view else "")}
    if view != "CPU and GPU":
        found["says"] = said_wrongly(journey, page)
    return found


def sizes_of(page: Page, part: Part, view: str) -> list[tuple[int, int]]:
    """Of the window; the laptop's is the last, and so that in which the next view is turned to."""
    more = MORE_SIZES if page.name in HARDEST else ()
    once = (PHONE,) if name_of(part, view) in OF_NO_SENTENCE else ()
    return [HALL, *more, *once, LAPTOP]


def name_of(part: Part, view: str) -> str:
    return f"{part.name} {view}".strip()


def said_wrongly(journey: Journey, page: Page) -> list[str]:
    """Sentences with no number in a number's place, or a share beyond all; why there are none."""
    assert journey.page.get_by_test_id("stException").count() == 0
    said: list[str] = journey.page.locator(".sentence").all_inner_texts()
    said += journey.page.locator(".verdicts li").all_inner_texts()
    beyond = page.name == "vocabulary"  # where all percentages are shares
    return [
        each for each in said
        if "nan" in each.split() or (beyond and not all(0 <= p <= 100 for p in percents(each)))
    ]  # fmt: skip


def measured(journey: Journey) -> None:
    """Wait until nothing is measured any more."""
    journey.answered()
    cancel = journey.page.get_by_role("button", name="Cancel")
    if cancel.count():
        expect(cancel).to_have_count(0, timeout=MEASURED_MS)
        journey.answered()


def moved(
    journey: Journey, act: Callable[[], object], wait: Callable[[Journey], object] = measured
) -> list[str]:
    """Which boxes are elsewhere after a click, or of another size, and by how much."""
    before: dict[str, list[int]] = journey.page.evaluate(BOXES)
    act()
    wait(journey)
    after: dict[str, list[int]] = journey.page.evaluate(BOXES)
    changes = {
        name: [b - a for a, b in zip(box, after[name], strict=True)] if name in after else None
        for name, box in before.items()
    }
    return [
        f"{name} {change or 'is gone'}"
        for name, change in changes.items()
        if change is None or max(map(abs, change)) > SLACK
    ]


def jumps(journey: Journey) -> dict[str, list[str]]:
    """What moves another box: a click on a token, a question mark or a neuron."""
    found = {f"token {at}": moved(journey, journey.chips.nth(at).click) for at in TOKENS}
    for at, button in enumerate(journey.page.locator(".what:visible").all()):
        found[f"? {at}"] = moved(journey, button.click, lambda here: here.page.evaluate(FRAMES))
        journey.page.keyboard.press("Escape")
    path = journey.page.url.partition("?")[0]
    for kind in NEURONS:
        target = journey.page.locator(kind)
        if target.count() < 2:
            continue
        changes = moved(journey, target.nth(1).click)
        if journey.page.url.partition("?")[0] == path:
            found[kind] = changes
        else:  # it has led to another page
            journey.page.go_back()
            journey.answered()
    return found


def jumps_once_measured(journey: Journey, page: Page) -> dict[str, list[str]]:
    """The same, once a click on what is there has nothing to wait for."""
    measured(journey)
    if page.name == "learn":  # its networks come as they are before their first step
        expect(journey.page.locator(INVITATION)).to_have_count(0, timeout=MEASURED_MS)
        journey.settle()
    return jumps(journey)


def jumps_at_a_view(journey: Journey, page: Page, part: Part, view: str) -> list[str]:
    """What stands elsewhere once one has turned to another view of a part, its pictures aside."""
    changes = moved(journey, lambda: turned(journey, page, part, view))
    return [each for each in changes if AROUND.match(each) and not OTHERS.match(each)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_part_is_one_screen_in_the_dark_at_every_size_and_no_click_moves_another_box(
    new_page: OpenPage, page: Page
) -> None:
    journey = opened(new_page(dark=True), page)
    wrong: dict[str, Any] = {}
    for part, view in views(page):
        found: dict[str, Any] = {}
        if view:
            found["view moves"] = jumps_at_a_view(journey, page, part, view)
        else:
            resized(journey.page, *HALL)  # where the list of parts is too high, it is a menu
            turned(journey, page, part)
        found |= faults(journey, page, view)
        for size in sizes_of(page, part, view):
            found[f"at {size}"] = seen_at(journey.page, *size, parts=True)
            if size in (HALL, LAPTOP):
                journey.answered()
                main = journey.page.get_by_test_id("stMain")
                found[f"sticks out at {size}"] = main.evaluate(STICKS_OUT)
            if size == LAPTOP:
                found |= jumps_once_measured(journey, page)
        wrong |= {f"{name_of(part, view)}, {what}": each for what, each in found.items() if each}
    assert wrong == {}, json.dumps(wrong, indent=1)[:6_000]


@pytest.mark.parametrize("size", [PHONE, LAPTOP, HALL], ids=str)
def test_whatever_a_sentence_says_of_another_token_moves_nothing(
    new_page: OpenPage, size: tuple[int, int]
) -> None:
    journey = new_page(width=size[0], height=size[1])
    for query in ({"part": "keep"}, {"part": "bend", "phi_view": "gated"}):
        journey.open_page("sparsity", text=START, token="1", **query).settle()
        found = [moved(journey, journey.chips.nth(at).click) for at in (1, 3)]
        assert found == [[], []], query


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_part_fits_a_phone_without_a_fault_on_any_sentence(phone: Journey, page: Page) -> None:
    journey = opened(phone, page, **ODD)
    wrong: dict[str, Any] = {}
    sizes = [PHONE, ON_ITS_SIDE]
    for part, view in views(page):
        if name_of(part, view) in OF_NO_SENTENCE:
            continue
        turned(journey, page, part, view)
        # It is the same document as in the dark, in other colours.
        found = faults(journey, page, view, ["color-contrast"])
        found |= {f"at {size}": seen_at(journey.page, *size) for size in sizes}
        wrong |= {f"{name_of(part, view)}, {what}": each for what, each in found.items() if each}
        sizes.reverse()
    assert wrong == {}, json.dumps(wrong, indent=1)[:6_000]
