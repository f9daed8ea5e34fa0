"""Every part of every page at every size, from a telephone to a wall, for every eye."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from ffnviz.parts import PAGES
from ffnviz.parts.part import Page, Part
from tests.browser.axe import violations
from tests.browser.conftest import OpenPage
from tests.browser.journey import LOOK_MS, PAINTED, PATIENCE_MS, Journey
from tests.parts.test_sparsity_sheets import percents

START = "She opened the [MASK] and looked out."
# What nobody had in mind; shorter and longer ones: tests/parts/test_any_sentence.py.
ODD = {"text": '👩\u200d👩\u200d👧 <b>x</b> 你好 """\\{x}',
       "twin": "gelu", "block": "1", "neuron": "gelu-3"}  # fmt: skip

ASKED_FOR = {"features ★"}  # views that this server was given nothing for
MEASURED_MS = 4 * PATIENCE_MS  # "How much fits" takes 7 s of a core, and jobs before it their own
# Which say the same of any sentence, and measure for seconds: they are seen at all sizes at once.
OF_NO_SENTENCE = {"fit", "fit by hand", "plant how much fits ★"}
PHONE, ON_ITS_SIDE = (390, 844), (844, 390)
IN_WORDS = {"CPU and GPU", "later neurons ★"}  # without a GPU, and after the last block
# What projectors, laptops and screens have, beside the two that pages are opened at: one of them on
# every part, all of them on the sheets that fill a window to its edges.
SIZES = ((1280, 720),)
MORE_SIZES = ((1024, 576), (1366, 768), (1440, 900), (1536, 864), (2560, 1440))
HARDEST = ("journey", "block")
HALL = 1920  # where no type may be smaller than SMALLEST pixels
SMALLEST = 16
FINGER, LEGIBLE = 44, 12  # pixels, of what is pressed; of type on a telephone
FAULTS = Path(__file__).with_name("faults.js").read_text(encoding="utf-8")
PHONE_FAULTS = Path(__file__).with_name("phone_faults.js").read_text(encoding="utf-8")
# True once every chart has been drawn for the room it has now.
FITTED = """([width, height]) => {
    const near = (a, b) => Math.abs(a - b) <= 1;
    const plots = [...document.querySelectorAll("*")]
        .flatMap((e) => [...(e.shadowRoot?.querySelectorAll(".plot") ?? [])]);
    return innerWidth === width && innerHeight === height && plots.every((plot) => {
        const drawn = plot.querySelector(".main-svg");
        return drawn && near(drawn.clientWidth, plot.clientWidth)
            && near(drawn.clientHeight, plot.clientHeight);
    });
}"""
# Sizes are told to the pictures with the next frame.
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def resized(journey: Journey, width: int, height: int) -> None:
    """Give the window a size, and wait until everything stands as it does there."""
    journey.page.set_viewport_size({"width": width, "height": height})
    journey.page.evaluate(FRAMES)
    journey.page.wait_for_function(FITTED, arg=[width, height])


def seen_at(journey: Journey, width: int, height: int, parts: bool = False) -> list[str]:
    """What a person would complain of in a window of that size."""
    resized(journey, width, height)
    smallest = SMALLEST if width == HALL else 0
    found: list[str] = journey.page.evaluate(FAULTS, {"smallest": smallest, "parts": parts})
    if (width, height) in (PHONE, ON_ITS_SIDE):
        found += journey.page.evaluate(PHONE_FAULTS, {"smallest": LEGIBLE, "target": FINGER})
    return found


def views(page: Page) -> Iterator[tuple[Part, str]]:
    """Each part with the words of each of its views, "" for the first."""
    for part in page.parts:
        yield part, ""
        for choice in part.settings:
            if choice.name.endswith("_view"):
                others = list(choice.options.values())[1:]
                yield from ((part, words) for words in others if words not in ASKED_FOR)


def turned(journey: Journey, page: Page, part: Part, view: str = "") -> None:
    """Turn to a part, and wait for its pictures; what is measured there is measured by itself."""
    if len(page.parts) > 1:
        journey.choose_part(part.title).answered()
    if view:
        journey.page.get_by_role("radio", name=view, exact=True).click()
        journey.answered()
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


def faults(
    journey: Journey,
    page: Page,
    size: tuple[int, int],
    fits: str,
    others: Sequence[tuple[int, int]],
    rules: Sequence[str] = (),
) -> dict[str, Any]:
    """What is wrong with each part of a page: it says nonsense or does not fit, axe complains, …

    Args:
        journey: the page, opened at that size.
        page: whose parts.
        size: of the window.
        fits: whether the page fits it, as a function of the page's main element.
        others: sizes that the window has, too.
        rules: of axe; all of them if none is named.
    """
    found: dict[str, Any] = {}
    main = journey.page.locator('[data-testid="stMain"]')
    for part, view in views(page):
        once = f"{part.name} {view}".strip() in OF_NO_SENTENCE
        if once and size == PHONE:
            continue
        resized(journey, *size)  # where the list of parts is too high, it is a menu
        turned(journey, page, part, view)
        complaints = violations(journey.page, rules)
        if view != "CPU and GPU" and (nonsense := said_wrongly(journey, page)):
            found[f"{part.name} {view} says"] = nonsense
        if not main.evaluate(fits) or complaints:
            found[part.name + view] = complaints or "it does not fit"
        for width, height in (size, *others, *([PHONE] if once else [])):
            looks = seen_at(journey, width, height, parts=True)
            if looks:
                found[f"{part.name} {view} at {width} × {height}"] = looks
    return found


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_part_is_one_screen_in_the_dark_and_in_order_at_every_size(
    new_page: OpenPage, page: Page
) -> None:
    journey = opened(new_page(dark=True), page)
    fits = "(m) => m.scrollHeight <= m.clientHeight"
    sizes = SIZES + (MORE_SIZES if page.name in HARDEST else ())
    found = faults(journey, page, (1920, 1080), fits, sizes)
    assert found == {}, json.dumps(found, indent=1)[:6_000]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_part_fits_a_telephone_without_a_fault_on_any_sentence(
    phone: Journey, page: Page
) -> None:
    journey = opened(phone, page, **ODD)
    fits = "(m) => m.scrollWidth <= m.clientWidth"
    # It is the same document as in the dark, in other colours.
    found = faults(journey, page, PHONE, fits, (ON_ITS_SIDE,), ["color-contrast"])
    assert found == {}, json.dumps(found, indent=1)[:6_000]
