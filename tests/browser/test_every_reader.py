"""For those who set their colours, hear the page, have no mouse, or write from the right."""

import io
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "She opened the [MASK] and looked out."
HEBREW = "האיש פתח את ה [MASK] ויצא"
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
BOXES = """() => [...document.querySelectorAll(".sheet > .rows .cell")].map((cell) => {
    const { x, y, width, height } = cell.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
})"""
WHOLE_CHIPS = """(row) => {
    const box = row.getBoundingClientRect();
    const chips = [...row.children].map((chip) => chip.getBoundingClientRect());
    const out = chips.filter(({ top, bottom }) => top < box.top - 2 || bottom > box.bottom + 2);
    const seen = ({ top, bottom }) => Math.min(bottom, box.bottom) - Math.max(top, box.top);
    return { cut: out.filter((chip) => seen(chip) > 4).length, away: out.length };
}"""


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


@pytest.mark.parametrize("dark", [False, True])
def test_in_a_contrast_theme_data_and_what_is_chosen_are_seen(
    new_page: OpenPage, dark: bool
) -> None:
    journey = new_page(alone=True, dark=dark, width=1280, height=720)
    page = journey.page
    page.emulate_media(forced_colors="active", color_scheme="dark" if dark else "light")
    journey.open(text=SENTENCE).settle()
    ground = (0, 0, 0) if dark else (255, 255, 255)
    bar = page.locator('[data-cell="prediction"] .track i').first
    assert seen(bar)
    assert ground not in seen(bar)
    assert "gradient" in style(page.locator(".scale i"), "backgroundImage")
    share = page.locator('[data-cell="chips"] .track i')
    assert len({style(each, "backgroundColor") for each in share.all()} - {"rgba(0, 0, 0, 0)"}) == 1
    chips = [style(chip, "backgroundColor") for chip in journey.chips.all()]
    networks = page.locator('[data-cell="network"] [role="radio"]').all()
    for colours in (chips, [style(radio, "backgroundColor") for radio in networks]):
        assert len(set(colours)) == 2, "the chosen one is unlike the others"
    page.goto(f"{journey.address}/neurons?part=wakes")
    journey.settle()
    lit = page.locator('[data-cell="block-map"] .lit').first
    assert style(lit, "backgroundColor") != style(
        page.locator('[data-cell="block-map"] button:not(.lit)').first, "backgroundColor"
    )
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

    journey.chips.nth(5).click()
    journey.settle()
    first = says_the_guess()
    assert "%)" in first
    journey.page.get_by_role("radio", name="GELU").click()
    journey.settle()
    assert says_the_guess() != first
    journey.box.fill("He drank a cup of [MASK].")
    journey.box.press("Enter")
    journey.wait_for("He drank a cup of [MASK].")
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


def test_a_plot_has_its_numbers_as_a_table(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open_page("sparsity", part="awake").settle()
    chart = journey.chart("awake")
    assert "numbers as a table" in (chart.locator(".plot").get_attribute("aria-label") or "")
    with journey.page.expect_download() as saving:
        chart.get_by_role("button", name="Save or enlarge").click()
        chart.get_by_role("button", name="Save the numbers as CSV").click()
    file = saving.value.path().read_text("utf-8-sig").splitlines()
    chart.get_by_role("button", name="Save or enlarge").click()
    chart.get_by_role("button", name="Show the numbers").click()
    dialog = journey.page.get_by_role("dialog", name="Numbers")
    expect(dialog.locator("tbody tr")).to_have_count(len(file) - 1)
    titles = dialog.locator("thead th").all_inner_texts()
    assert titles == [title for title in file[0].split(",") if title in titles]
    value = dialog.locator("tbody tr").first.locator("td").nth(titles.index("y")).inner_text()
    assert value.replace("−", "-") in file[1]
    journey.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_sentence_from_the_right_stands_in_its_own_order_and_says_how_it_is_read(
    new_page: OpenPage,
) -> None:
    journey = new_page(width=1280, height=720).open(text=HEBREW).settle()
    line = [chip.bounding_box() for chip in journey.chips.all()]
    for before, after in pairwise(line):
        assert before
        assert after
        if abs(before["y"] - after["y"]) < 2:
            assert after["x"] < before["x"]
    joined = journey.page.locator('[data-cell="chips"] .joins')
    assert joined.count() == sum(len(sign.encode()) - 1 for sign in HEBREW)
    assert "a further token of the character ה" in (
        journey.page.locator(".joins > [aria-pressed]").first.get_attribute("title") or ""
    )
    said = journey.page.locator('[data-cell="chips"] .sentence')
    expect(said).to_contain_text("It has read English only. It has no token for “ה” and")
    assert journey.box.evaluate("(box) => box.dir") == "rtl"
    journey.box.fill(SENTENCE)
    journey.box.press("Enter")
    journey.wait_for(SENTENCE)
    assert journey.box.evaluate("(box) => box.dir") == "ltr"
    expect(said).to_be_hidden()
    assert journey.page.locator('[data-cell="chips"] .row').evaluate("(row) => row.dir") == "ltr"


def test_a_long_sentence_shows_whole_lines_and_counts_the_rest(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open(text="[MASK] " * 59 + "[MASK]").settle()
    row = journey.page.locator('[data-cell="chips"] .row')
    more = journey.page.locator(".more-tokens")
    for _ in range(3):
        expect(more).to_be_visible()
        found = row.evaluate(WHOLE_CHIPS)
        assert found["cut"] == 0
        expect(more).to_have_text(f"+ {found['away']}")
        assert 0 < found["away"] < 60
        top = row.evaluate("(row) => row.scrollTop")
        more.click()
        journey.page.wait_for_function(
            "([row, top]) => row.scrollTop !== top", arg=[row.element_handle(), top]
        )
    journey.box.fill(SENTENCE)
    journey.box.press("Enter")
    journey.wait_for(SENTENCE)
    expect(more).to_be_hidden()


def test_an_emptied_box_leaves_the_pictures_where_they_are(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open(text=SENTENCE).settle()
    before = journey.page.evaluate(BOXES)
    rows, empty = (journey.page.locator(at) for at in (".sheet > .rows", '[data-cell="empty"]'))
    for text in ("", " "):
        journey.box.fill(text)
        journey.box.press("Enter")
        expect(empty).to_contain_text("The box is empty")
        journey.answered()
        assert journey.page.evaluate(BOXES) == before
        assert float(style(rows, "opacity")) < 0.5
        assert rows.evaluate("(rows) => rows.inert")
        expect(journey.box).to_be_focused()
    journey.box.fill("a\t\tred   [MASK]")
    journey.box.press("Enter")
    journey.wait_for("a red [MASK]")
    assert journey.chips.locator("bdi").all_inner_texts() == ["a", "red", "[MASK]"]
    assert style(rows, "opacity") == "1"
    expect(empty).to_have_count(0)
    # Another page's pictures do not stay for what is not theirs.
    journey.box.fill("")
    journey.box.press("Enter")
    journey.answered()
    journey.page.get_by_role("link", name="Block").click()
    expect(journey.page.locator('.rows [data-cell="empty"]')).to_be_visible()


def test_what_was_hidden_can_be_unhidden(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open(text="He drank a cup of tea.").settle()
    journey.chips.nth(3).click()
    journey.settle()
    button = journey.page.locator('[data-cell="chips"] .hide')
    expect(button).to_have_accessible_name("Hide this word")
    button.click()
    journey.wait_for("He drank a [MASK] of tea.")
    expect(button).to_have_accessible_name("Unhide “cup”")
    button.click()
    journey.wait_for("He drank a cup of tea.")
    button.click()
    journey.wait_for("He drank a [MASK] of tea.")
    journey.page.keyboard.press("Control+z")
    journey.wait_for("He drank a cup of tea.")
    assert journey.query()["token"] == "4"


def test_at_twice_the_size_the_guess_is_whole_on_the_first_screen(new_page: OpenPage) -> None:
    journey = new_page(width=640, height=360).open(text=SENTENCE).settle()
    guess = journey.page.locator(".leads .sentence .number").bounding_box()
    assert guess
    assert guess["y"] + guess["height"] <= 360
    main = journey.page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth <= m.clientWidth")
