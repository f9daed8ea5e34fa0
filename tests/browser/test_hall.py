"""A talk before a hall: given with a mouse, with a clicker's keys, and one made by clicking."""

import pytest
from playwright.sync_api import Page, expect

from ffnviz.lecture.chosen import BUILT_IN, lecture_file
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey
from tests.browser.test_lecture import FITS, LAST_ROW, OPEN_QUESTION, THERE, TITLES, complaints
from tests.lecture.lecture_runs import catalog

HALLS = ((1920, 1080), (1280, 720))
# The buttons lie on no picture, and on no word of the scene.
APART = """() => {
    const story = document.querySelector("[data-cell=story]").shadowRoot;
    const tools = story.querySelector(".tools").getBoundingClientRect();
    const parts = [...document.querySelectorAll(".sheet > .rows .cell")]
        .map((cell) => cell.shadowRoot.querySelector(".hung"));
    parts.push(...story.querySelectorAll(".question, .say, h2"));
    return parts.filter((part) => part?.checkVisibility({ visibilityProperty: true }))
        .every((part) => part.getBoundingClientRect().bottom <= tools.top + 1);
}"""


def title(page: Page) -> str:
    return page.locator(".story h2").first.inner_text()


def begin(journey: Journey, lecture: str) -> Page:
    """A talk that was begun with the mouse."""
    page = journey.page
    page.goto(f"{journey.address}/?scene=1&lecture={lecture}")
    journey.settle()
    page.get_by_role("button", name="Present", exact=True).click()
    expect(page.locator("html[data-presenting]")).to_have_count(1)
    return page


def test_a_lecture_is_given_with_the_mouse_alone(new_page: OpenPage) -> None:
    page = begin(new_page(width=1280, height=720), "ffn")
    journey = Journey(page, page.url)
    tools, after = page.locator(".story .tools"), page.get_by_role("button", name="Next →")
    for at, name in enumerate(TITLES):
        expect(page.locator(".story h2").first).to_have_text(name)
        journey.answered()  # some scenes measure before they have their pictures
        if page.locator(OPEN_QUESTION).count():
            assert page.evaluate(APART), name
            options = page.locator(".story .question .options button")
            asked = options.all_inner_texts()
            options.last.click()
            expect(page.locator(".story .say")).to_be_visible()
            journey.answered()
            shown = [each.removeprefix("✓ ") for each in options.all_inner_texts()]
            assert shown == asked  # all can still be pointed at
            expect(options.first).to_be_visible()
        page.wait_for_function(THERE, timeout=90_000)
        page.wait_for_function(APART)
        if at == 1:  # the pointer rests on a button that was clicked
            expect(tools).to_have_css("opacity", "0")
            expect(page.locator(".story :focus-visible")).to_have_count(0)
        if at + 1 < len(TITLES):
            after.click()
    assert title(page) == TITLES[-1]


def test_back_from_a_question_the_picture_has_its_room_and_no_frame_is_drawn(
    new_page: OpenPage,
) -> None:
    journey = new_page(width=1280, height=720)
    page = journey.page
    page.goto(f"{journey.address}/?scene=4&present=1&lecture=ffn")
    expect(page.locator(OPEN_QUESTION)).to_be_visible()
    page.keyboard.press("PageUp")
    expect(page.locator(".story h2").first).to_have_text(TITLES[2])
    page.wait_for_function(THERE)
    page.wait_for_function(FITS)
    assert page.evaluate("document.querySelector('[data-cell=story]').offsetHeight < 300")
    page.mouse.click(640, 600)
    page.keyboard.press("PageUp")
    expect(page.locator(".story h2").first).to_have_text(TITLES[1])
    frame = "getComputedStyle(document.querySelector('[data-testid=stMain]'), '::before').content"
    assert page.evaluate(frame) == "none"


@pytest.mark.parametrize("key", ["Space", "PageDown"])
def test_a_key_leads_through_the_course_whatever_was_clicked(new_page: OpenPage, key: str) -> None:
    titles = [scene.title for scene in lecture_file(BUILT_IN["course"], catalog()).scenes]
    page = begin(new_page(width=1280, height=720), "course")
    journey, shown = Journey(page, page.url), [title(page)]
    page.get_by_role("button", name="Notes").focus()  # as a click there leaves it
    page.mouse.click(600, 700)
    for _ in range(2 * len(titles)):
        question = page.locator(OPEN_QUESTION).count()
        if question and len(shown) % 2:  # an answer that was clicked keeps no key
            page.locator(".story .question .options button").first.click()
        else:
            page.keyboard.press(key)
        if question:
            expect(page.locator(".story .say")).to_be_visible()
            continue
        if len(shown) == len(titles):
            break
        expect(page.locator(".story h2").first).to_have_text(titles[len(shown)])
        journey.answered()
        shown.append(title(page))
        if len(shown) % 5 == 0:  # a picture that was clicked keeps none either
            page.locator(".sheet > .rows").click(position={"x": 5, "y": 5}, force=True)
    assert shown == titles
    expect(page.locator("html[data-presenting]")).to_have_count(1)


def test_a_lecture_made_by_clicking_is_given_and_fits_a_hall(new_page: OpenPage) -> None:
    journey, wrong = new_page(width=1280, height=720), []
    page = journey.page
    for name, part in (("journey", ""), ("sparsity", "keep"), ("block", "block")):
        more = {"part": part} if part else {}
        journey.open_page(name, text="The old king sat on his [MASK].", **more)
        page.get_by_role("button", name="Lecture", exact=True).click()
        page.get_by_role("button", name="Add this view").click()
        expect(journey.text("Added: it is scene")).to_be_visible()
        journey.answered()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Lecture", exact=True).click()
    page.get_by_role("button", name="My lecture (3 views)").click()
    journey.answered()
    expect(page.get_by_label("Title", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="1. ").click()
    journey.answered()
    page.get_by_label("A question, asked before").fill("On what does an old king sit?")
    options = page.get_by_label("Its options")
    options.press_sequentially("a throne", delay=200)  # meanwhile the form says what is missing
    expect(options).to_have_value("a throne")
    options.fill("a throne\na horse")
    page.keyboard.press("Tab")
    expect(page.get_by_text("which option is right? Put * before it")).to_be_visible()
    expect(page.get_by_role("button", name="Show it")).to_be_disabled()
    page.get_by_label("Its options").fill("*a throne\na horse")
    page.keyboard.press("Tab")
    journey.answered()
    page.get_by_role("button", name="Worksheet to print").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the worksheet").click()
    assert "On what does an old king sit?" in saved.value.path().read_text(encoding="utf-8")
    page.get_by_role("button", name="Show it").click()
    journey.answered()
    page.get_by_role("button", name="Present", exact=True).click()
    for how in ("mouse", "keyboard"):
        for at in range(3):
            expect(page.locator(".story .where")).to_have_text(f"{at + 1} of 3")
            journey.settle()
            if at == 0 and how == "mouse":
                page.get_by_role("button", name="a horse").click()
                expect(page.locator(".story .say")).to_be_visible()
                journey.settle()
            if how == "mouse":
                wrong += complaints(journey, HALLS, 0)
                wrong += complaints(journey, HALLS[:1], LAST_ROW)
                page.wait_for_function(APART)
            if at == 2:
                page.keyboard.press("Home")
            elif how == "mouse":
                page.get_by_role("button", name="Next →").click()
            else:
                page.keyboard.press("Space")
    assert wrong == []
