"""For those who set their own colours, hear the page, have no mouse, or need it large."""

import io
from collections.abc import Iterator

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey, box_of
from tests.browser.looks import FRAMES

SENTENCE = "She opened the [MASK] and looked out."
FOCUSED = """() => {
    let at = document.activeElement;
    while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    const host = at.getRootNode().host;
    return [host?.dataset.cell ?? at.localName, at.querySelector?.("bdi")?.textContent ?? ""];
}"""
# How many stops the Tab key makes in a cell.
STOPS = """(cell) => [...cell.shadowRoot.querySelectorAll(
    "button, a[href], input, select, [tabindex]")].filter((each) =>
    each.tabIndex >= 0 && !each.disabled
    && each.checkVisibility({ visibilityProperty: true })).length"""


def outcome(journey: Journey) -> Locator:
    """What a screen reader hears of what was done."""
    return journey.page.locator("#ffnviz-outcome")


def seen(element: Locator) -> set[tuple[int, ...]]:
    """The colours that fill a good part of an element on the screen."""
    image = np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("RGB")).reshape(-1, 3)
    colours, counts = np.unique(image, axis=0, return_counts=True)
    return {
        tuple(map(int, c)) for c, n in zip(colours, counts, strict=True) if n > 0.2 * len(image)
    }


def style(element: Locator, name: str) -> str:
    return str(element.evaluate("(e, name) => getComputedStyle(e)[name]", name))


def test_in_a_contrast_theme_data_and_what_is_chosen_are_seen(new_page: OpenPage) -> None:
    journey = new_page(alone=True, width=1280, height=720)
    page = journey.page

    def each_scheme() -> Iterator[tuple[int, int, int]]:
        """Its ground."""
        for dark in (False, True):
            page.emulate_media(forced_colors="active", color_scheme="dark" if dark else "light")
            page.evaluate(FRAMES)
            yield (0, 0, 0) if dark else (255, 255, 255)

    journey.open(text=SENTENCE).settle()
    for ground in each_scheme():
        bar = page.locator('[data-cell="prediction"] .track i').first
        assert seen(bar)
        assert ground not in seen(bar)
        assert "gradient" in style(page.locator(".scale i"), "backgroundImage")
        shares = page.locator('[data-cell="chips"] .track i').all()
        assert len({style(each, "backgroundColor") for each in shares} - {"rgba(0, 0, 0, 0)"}) == 1
        networks = page.locator('[data-cell="network"] [role="radio"]')
        for choices in (journey.chips, networks):
            colours = {style(each, "backgroundColor") for each in choices.all()}
            assert len(colours) == 2, "the chosen one is unlike the others"
    page.goto(f"{journey.address}/neurons?part=wakes")
    journey.settle()
    for ground in each_scheme():
        lit, others = (page.locator(f'[data-cell="block-map"] {each}').first
                       for each in (".lit", "button:not(.lit)"))  # fmt: skip
        assert style(lit, "backgroundColor") != style(others, "backgroundColor")
        for mark in page.locator(".passages mark").all()[:3]:
            assert len(seen(mark)) >= 1
            assert style(mark, "color") != style(mark, "backgroundColor")
            assert style(mark, "backgroundColor") != "rgb({}, {}, {})".format(*ground)


def test_what_came_of_an_action_is_said_not_what_was_pressed(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open(text=SENTENCE).settle()
    expect(outcome(journey)).to_have_count(0)  # the page has only just come
    lead = journey.page.locator(".leads .sentence")

    def says_the_guess() -> str:
        expect(outcome(journey)).to_contain_text(lead.locator(".number").inner_text())
        return outcome(journey).inner_text()

    journey.choose_token(5)
    first = says_the_guess()
    assert "%)" in first
    journey.choose("GELU")
    assert says_the_guess() != first
    journey.write("He drank a cup of [MASK].")
    assert "For the hidden word" in says_the_guess()
    journey.map_of("gelu").focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        journey.page.keyboard.press(key)
    expect(outcome(journey)).to_contain_text("Neuron 2:")
    told = journey.page.locator(".maps [role=status]")
    assert "is chosen." in told.inner_text()
    journey.page.goto(f"{journey.address}/lab?part=dropout")
    journey.settle()
    journey.page.get_by_role("slider", name="dropout p").focus()
    journey.page.keyboard.press("ArrowRight")
    journey.settle()
    expect(outcome(journey)).to_contain_text("passes with p =")


def test_enter_goes_to_the_words_and_each_row_is_one_stop(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open(text=SENTENCE).settle()
    page = journey.page
    page.keyboard.press("/")
    page.keyboard.press("End")
    page.keyboard.type(" Then he left")
    page.keyboard.press("Enter")
    journey.settle()
    assert page.evaluate(FOCUSED) == ["chips", "[MASK]"]
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(FOCUSED) == ["chips", "the"]
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    journey.settle()
    assert journey.query()["token"] == "1"
    row = page.locator('[data-cell="chips"] .row [tabindex="0"]')
    assert row.count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)[1] == "", "on behind the words"
    assert page.locator('[data-kind="neuron_card"] li [tabindex="0"]').count() == 1
    names = page.get_by_role("button", name="Save or enlarge").all()
    labels = [name.get_attribute("aria-label") or "" for name in names]
    assert labels
    assert not [label for label in labels if label.strip().endswith(":")]
    page.goto(f"{journey.address}/neurons?part=browse")
    journey.settle()
    table = page.locator('[data-kind="table"]')
    assert table.locator("tbody button").count() == 500
    assert table.evaluate(STOPS) <= 5, "its signs, its titles and its rows"
    first = table.locator("tbody button").first
    first.focus()
    page.keyboard.press("PageDown")
    focused = table.locator("tbody button").nth(10)
    expect(focused).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)[0] != table.get_attribute("data-cell"), "past the table"


def test_at_twice_the_size_the_guess_is_whole_on_the_first_screen(new_page: OpenPage) -> None:
    journey = new_page(width=640, height=360).open(text=SENTENCE).settle()
    guess = box_of(journey.page.locator(".leads .sentence .number"))
    assert guess["y"] + guess["height"] <= 360
    main = journey.page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth <= m.clientWidth")
