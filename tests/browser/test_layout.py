"""How the first page stands on a projector, on paper and on a phone, and what a newcomer reads."""

import re

import torch
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import FIRST, box_of
from tests.browser.looks import pages_of, violations

START = "She opened the [MASK] and looked out."


# In the dark on a projector and in the light on a phone: test_parts.py, for every part.
def test_on_a_projector_all_is_visible_and_each_picture_explains_itself(new_page: OpenPage) -> None:
    journey = new_page(width=1920, height=1080).open(text=START)
    page = journey.page
    assert violations(page) == []
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollHeight <= m.clientHeight")
    if not (torch.cuda.is_available() or torch.backends.mps.is_available()):
        expect(page.get_by_role("switch", name="GPU")).to_be_disabled()
    lowest = box_of(journey.text("of it in the FFNs"))
    assert lowest["y"] + lowest["height"] <= 1080

    buttons = page.get_by_role("button", name="What am I looking at?")
    assert buttons.count() == 5
    for button in buttons.all():
        button.click()
        note = page.locator(".note:visible")
        expect(note.locator("math")).to_be_hidden()
        note.get_by_text("The formula").click()
        note.locator("math").wait_for()
        box = box_of(note)
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1920
        page.keyboard.press("Escape")
        expect(note).to_have_count(0)
    button = page.get_by_role("button", name="What am I looking at? Each token")
    button.click()
    note = page.locator("#note-ffn")
    expect(note.locator("b").first).to_contain_text("makes the chosen token's vector wide")
    expect(note).to_have_attribute("aria-label", re.compile("^Each token goes alone "))
    note.get_by_role("button", name="Close").click()
    expect(note).to_be_hidden()
    expect(button).to_be_focused()

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".bar .told")).to_have_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_on_a_phone_all_stands_in_one_column_and_the_drawer_closes(new_page: OpenPage) -> None:
    page = new_page(width=390, height=844, dark=True).open(text=START).page
    assert violations(page) == []
    boxes = [box_of(page.locator(each)) for each in (".leads", ".picture", "article", ".maps")]
    tops = [box["y"] for box in boxes]
    assert tops == sorted(tops), "one column"
    assert tops[0] <= 300
    assert all(box["width"] > 320 for box in boxes)
    box_of(page.locator('.picture [data-stage="x"] canvas'))
    name = page.get_by_role("heading", level=1)
    expect(name).to_have_text("Journey")
    expect(name).to_be_in_viewport()
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Activation").click()
    expect(name).to_have_text("Activation: The activation function")
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    expect(page).to_have_title(f"Activation: {START} · ffnviz")


def test_it_is_printed_on_one_sheet_and_its_header_is_opaque(new_page: OpenPage) -> None:
    journey = new_page().open(text=START)
    page = journey.page
    for dark, size, colour in (
        (False, (1440, 900), "rgb(245, 246, 247)"),
        (True, (1280, 720), "rgb(8, 10, 14)"),
        (True, (1024, 576), "rgb(8, 10, 14)"),
    ):
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.set_viewport_size({"width": size[0], "height": size[1]})
        expect(page.get_by_test_id("stHeader")).to_have_css("background-color", colour)
        assert pages_of(page.pdf(prefer_css_page_size=True)) == 1, size
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(journey.box).to_be_hidden()
    expect(page.get_by_role("button", name="Save or enlarge").first).to_be_hidden()


def test_the_welcome_stays_until_it_is_closed(new_page: OpenPage) -> None:
    journey = new_page()
    page = journey.page
    journey.open()
    welcome = page.get_by_role("region", name="Welcome")
    expect(welcome).to_contain_text("feed-forward network (FFN)")
    page.reload()  # by now the address has a state, and the visit began without one
    expect(welcome).to_be_visible()
    page.get_by_role("button", name="Close the welcome").click()
    expect(welcome).to_be_hidden()
    journey.open()
    journey.wait_for(FIRST)
    expect(welcome).to_be_hidden()
    page.get_by_role("button", name="New here?").click()
    expect(page.get_by_role("region", name="New here?")).to_contain_text("Type a sentence")


def test_a_term_is_explained_where_it_first_stands_by_pointer_and_key(new_page: OpenPage) -> None:
    journey = new_page().open(text=START)
    page = journey.page
    expect(page.get_by_role("region", name="Welcome")).to_be_hidden()  # whoever follows a link
    terms = page.locator(".sentence .term")
    expect(terms.filter(has_text="FFN").first).to_be_visible()
    names = [name.lower() for name in terms.all_inner_texts()]
    assert len(names) == len(set(names)), "each term is marked once on the page"
    box = page.locator(".term-box:popover-open")
    terms.filter(has_text="FFN").first.click()
    expect(box).to_contain_text("The part of each block that this app is about")
    terms.filter(has_text="neuron").first.click()  # another: the same box says something else
    expect(box).to_contain_text("One of the d_ff")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    terms.filter(has_text="block").first.focus()
    page.keyboard.press("Enter")
    expect(box).to_contain_text("One stage of the network")
    terms.filter(has_text="FFN").first.evaluate(  # closed, and another asked for at once
        "term => { term.popoverTargetElement.hidePopover(); term.click(); }"
    )
    expect(box).to_contain_text("The part of each block that this app is about")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Glossary").click()
    glossary = page.get_by_role("region", name="Glossary")
    for term in ("FFN", "d_ff", "2:17", "top-p", "entropy"):
        expect(glossary.locator("dt").filter(has_text=term).first).to_be_attached()


def test_a_question_is_answered_with_how_to_hide_a_word(new_page: OpenPage) -> None:
    journey = new_page().open(text="Where is the cat?", token="4")
    page = journey.page
    told = page.locator(".sentence").first
    expect(told).to_contain_text("The network answers no questions")
    page.get_by_role("button", name="Hide this word", exact=True).click()
    journey.wait_for("Where is the [MASK]?")
    expect(journey.box).to_have_value("Where is the [MASK]?")
    expect(told).not_to_contain_text("no questions")
    assert journey.query()["token"] == "4"
    expect(page.get_by_role("button", name="Hide this word", exact=True)).to_be_hidden()
    journey.chips.nth(1).hover()
    page.get_by_role("button", name="hide", exact=True).click()  # each word offers it
    journey.wait_for("Where [MASK] the [MASK]?")
    journey.chips.nth(2).focus()
    page.keyboard.press("Delete")
    journey.wait_for("Where [MASK] [MASK] [MASK]?")
    journey.write("Where ___ the cat?", read="Where [MASK] the cat?")
    expect(journey.box).to_have_value("Where ___ the cat?")  # what was typed stays
    expect(journey.chips.nth(1)).to_contain_text("[MASK]")


def test_next_leads_on_within_a_page_and_to_the_next(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text=START, part="awake")
    page = journey.page
    page.get_by_role("button", name="Next: Keep the top k →").click()
    on = page.get_by_role("button", name="Next: Dimensions · Shapes and code →")
    expect(on).to_be_visible()
    assert journey.query()["part"] == "keep"
    on.click()
    expect(page.get_by_role("button", name="Next: Cost →")).to_be_visible()
    assert page.url.split("?")[0].endswith("/dimensions")
    assert journey.query()["text"] == START


def test_the_first_page_says_the_one_idea_and_shows_it_by_two_buttons(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open()
    page = journey.page
    picture, guess = page.locator(".picture"), page.locator(".leads")
    expect(picture.locator(".sentence")).to_have_text(
        "Each token goes alone through the same weights: "
        "512 numbers → 2,048, bent, → 512, added back."
    )
    expect(guess.locator(".sentence .number")).to_contain_text("six")
    expect(page.locator(".card p bdi").filter(has_text="thirty")).to_have_count(1)
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollHeight <= m.clientHeight")  # all of it, on a small screen

    off = page.get_by_role("button", name="FFN off")
    off.click()
    expect(guess.locator(".sentence")).to_contain_text(
        "Without the FFN of block 2 the network says “four"
    )
    expect(off).to_have_attribute("aria-pressed", "true")
    page.reload()
    journey.settle()
    expect(guess.locator(".sentence .number")).to_contain_text("four")
    off.click()
    expect(guess.locator(".sentence .number")).to_contain_text("six")

    turns = page.get_by_role("button", name="Token by token")
    turns.click()
    expect(page.get_by_role("button", name="7 of 9: same weights")).to_be_visible()
    expect(page.locator('.row [aria-pressed="true"] bdi')).to_have_text("not")
    expect(turns).to_be_visible()  # through all nine, back at the hidden word
    assert journey.query()["token"] == "4"
