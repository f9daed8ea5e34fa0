"""How the page stands on a projector and on a telephone, for every eye and without the network."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

START = "She opened the [MASK] and looked out."


@pytest.mark.parametrize("dark", [False, True])
def test_all_is_visible_on_a_projector_without_scrolling(new_page: OpenPage, dark: bool) -> None:
    journey = new_page(dark=dark, width=1920, height=1080).open(text=START)
    main = journey.page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollHeight <= m.clientHeight")
    lowest = journey.page.get_by_text("of it in the FFNs").bounding_box()
    assert lowest is not None
    assert lowest["y"] + lowest["height"] <= 1080


def test_a_telephone_shows_one_column_and_nothing_sticks_out(new_page: OpenPage) -> None:
    journey = new_page(width=390, height=844).open(text=START)
    main = journey.page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth <= m.clientWidth")
    boxes = [
        journey.page.locator(selector).bounding_box()
        for selector in (".picture", ".prediction", ".maps", "article")
    ]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 4
    assert tops == sorted(tops)
    assert all(box["width"] > 340 for box in boxes if box)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1920, 390])
def test_axe_finds_nothing_to_complain_about(new_page: OpenPage, dark: bool, width: int) -> None:
    journey = new_page(dark=dark, width=width).open(text=START)
    found = Axe().run(journey.page).response["violations"]
    assert found == [], json.dumps(found, indent=1)[:4_000]


def test_each_picture_explains_itself_with_its_equation(new_page: OpenPage) -> None:
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
