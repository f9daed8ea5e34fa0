"""How the page stands on a projector and on a telephone, for every eye and without the network."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.conftest import OpenPage
from tests.browser.paper import pages_of

START = "She opened the [MASK] and looked out."


# In the dark on a projector and in the light on a telephone: test_parts.py, for every part.
def test_all_is_visible_on_a_projector_without_scrolling(new_page: OpenPage) -> None:
    journey = new_page(width=1920, height=1080).open(text=START)
    assert violations(journey.page) == []
    main = journey.page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollHeight <= m.clientHeight")
    lowest = journey.text("of it in the FFNs").bounding_box()
    assert lowest is not None
    assert lowest["y"] + lowest["height"] <= 1080


def test_a_telephone_shows_one_column_and_nothing_sticks_out(new_page: OpenPage) -> None:
    journey = new_page(width=390, height=844, dark=True).open(text=START)
    assert violations(journey.page) == []
    main = journey.page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth <= m.clientWidth")
    boxes = [
        journey.page.locator(selector).bounding_box()
        for selector in (".leads", ".picture", "article", ".maps")
    ]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 4
    assert tops == sorted(tops)
    assert all(box["width"] > 320 for box in boxes if box)


def test_each_picture_explains_itself_with_its_equation_and_a_cross(new_page: OpenPage) -> None:
    journey = new_page().open(text=START)
    buttons = journey.page.get_by_role("button", name="What am I looking at?")
    assert buttons.count() == 5
    for place in range(5):
        buttons.nth(place).click()
        note = journey.page.locator(".note:visible")
        note.get_by_text("The formula").click()
        note.locator("math").wait_for()
        box = note.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1920
        journey.page.keyboard.press("Escape")
        expect(note).to_have_count(0)
    button = journey.page.get_by_role("button", name="What am I looking at? Each token")
    button.click()
    note = journey.page.locator("#note-ffn")
    note.get_by_text("The formula").wait_for()
    expect(note).to_have_attribute("aria-label", re.compile("^Each token goes alone "))
    note.get_by_role("button", name="Close").click()
    expect(note).to_be_hidden()
    expect(button).to_be_focused()


def test_nothing_is_asked_of_any_other_machine(new_page: OpenPage) -> None:
    journey = new_page(alone=True)
    asked: list[str] = []
    journey.page.on("request", lambda request: asked.append(request.url))
    journey.page.on("websocket", lambda socket: asked.append(socket.url))
    journey.open(text=START)
    journey.page.get_by_role("button", name="What am I looking at?").first.click()
    journey.page.locator(".note math").first.wait_for(state="attached")
    journey.press("by index")
    here = journey.address.removeprefix("http://")
    outside = [
        url
        for url in asked
        if not url.startswith((f"http://{here}", f"ws://{here}", "data:", "blob:"))
    ]
    assert len(asked) > 10
    assert outside == []


def test_the_gpu_toggle_says_why_it_is_off(new_page: OpenPage) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("there is a GPU here")
    journey = new_page().open(text=START)
    assert (
        journey.page.get_by_role("switch", name="GPU")
        .or_(journey.page.get_by_role("checkbox", name="GPU"))
        .is_disabled()
    )


def test_on_a_telephone_the_page_says_its_name_and_the_drawer_closes(new_page: OpenPage) -> None:
    journey = new_page(width=390, height=844).open(text=START)
    page = journey.page
    picture = page.locator('.picture [data-stage="x"] canvas').bounding_box()
    assert picture is not None
    guess = page.locator(".leads").bounding_box()
    assert guess is not None
    assert guess["y"] <= 300
    name = page.get_by_role("heading", level=1)
    expect(name).to_have_text("Journey")
    expect(name).to_be_in_viewport()
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Activation").click()
    expect(name).to_have_text("Activation: The activation function")
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    expect(page).to_have_title(f"Activation: {START} · ffnviz")
    small = page.evaluate(
        """() => [...document.querySelectorAll("*")]
            .flatMap((e) => [e, ...(e.shadowRoot?.querySelectorAll("*") ?? [])])
            .filter((e) => e.matches("button:not(.term), [role=radio], input[type=range]"))
            .filter((e) => e.checkVisibility())
            .map((e) => [e.textContent, e.getBoundingClientRect().height])
            .filter(([, height]) => height > 1 && height < 43.5)"""
    )
    assert small == []


def test_a_link_is_copied_and_that_is_told(new_page: OpenPage) -> None:
    journey = new_page().open(text=START)
    page = journey.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    told = page.locator(".bar .told")
    expect(told).to_have_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_the_header_hides_what_scrolls_under_it(new_page: OpenPage) -> None:
    for dark, colour in ((False, "rgb(245, 246, 247)"), (True, "rgb(8, 10, 14)")):
        journey = new_page(dark=dark, width=1024, height=576).open(text=START)
        header = journey.page.get_by_test_id("stHeader")
        assert header.evaluate("(e) => getComputedStyle(e).backgroundColor") == colour


def test_a_page_is_printed_on_one_sheet_with_its_name(new_page: OpenPage) -> None:
    for dark, width, height in ((False, 1440, 900), (True, 1280, 720)):
        journey = new_page(dark=dark, width=width, height=height).open(text=START)
        assert pages_of(journey.page.pdf(prefer_css_page_size=True)) == 1
    journey.page.emulate_media(media="print")
    expect(journey.page.get_by_role("heading", level=1)).to_be_visible()
    expect(journey.box).to_be_hidden()
    expect(journey.page.get_by_role("button", name="Save or enlarge").first).to_be_hidden()
