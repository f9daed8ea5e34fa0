"""What a thumb does on a phone, upright and on its side; its look: test_parts.py."""

from playwright.sync_api import expect

from tests.browser.journey import Journey, box_of

LONG = "The old man with the long white beard opened the [MASK] and looked out at the sea."
SCROLL = "(m, y) => m.scrollTo(0, y)"
FADES_AT_ITS_END = """() => {
    const { shadowRoot } = document.querySelector('[data-cell="chips"]');
    const { maskImage } = getComputedStyle(shadowRoot.querySelector(".row"));
    return maskImage.startsWith("linear-gradient(to right, rgb(0, 0, 0)");
}"""


def test_whoever_moves_a_slider_sees_the_picture_change(phone: Journey) -> None:
    phone.open_page("dimensions", part="cost")
    slider = phone.page.get_by_role("slider", name="heads")
    picture = phone.page.locator(".sheet > .rows .cell").first
    for width, height in ((390, 844), (844, 390)):
        phone.page.set_viewport_size({"width": width, "height": height})
        phone.settle()
        phone.page.get_by_test_id("stMain").evaluate(SCROLL, 100)
        slider.scroll_into_view_if_needed()
        expect(slider).to_be_in_viewport()
        expect(picture).to_be_in_viewport(ratio=0.3)
    before = phone.sentence("costs")
    phone.page.get_by_role("slider", name="d_ff, hidden neurons").fill("0")
    phone.settle()
    assert phone.sentence("costs") != before
    expect(picture).to_be_in_viewport(ratio=0.3)


def test_the_sentence_stays_in_reach_and_its_words_slide_with_a_sign(phone: Journey) -> None:
    phone.open_page("neurons", text=LONG)
    phone.page.get_by_test_id("stMain").evaluate(SCROLL, 700)
    row = phone.page.get_by_role("group", name="Tokens of the sentence")
    expect(row).to_be_in_viewport()
    assert row.evaluate("(e) => e.scrollWidth > e.clientWidth")
    assert "rgba(0, 0, 0, 0)" in row.evaluate("(e) => getComputedStyle(e).maskImage")
    phone.chips.nth(1).tap()
    phone.answered()
    expect(phone.chips.nth(1)).to_have_attribute("aria-pressed", "true")
    row.evaluate("(e) => e.scrollTo(0, 0)")
    phone.page.wait_for_function(FADES_AT_ITS_END)
    assert row.evaluate("(e) => e.getBoundingClientRect().height") < 60


def test_whoever_edits_a_long_sentence_sees_its_end(phone: Journey) -> None:
    phone.open(text=LONG)
    phone.page.get_by_role("button", name="Edit the sentence").tap()
    expect(phone.box).to_be_focused()
    assert phone.box.evaluate("(b) => b.selectionStart === b.value.length")
    assert phone.box.evaluate("(b) => b.scrollLeft + b.clientWidth >= b.scrollWidth - 2")
    expect(phone.box).to_have_attribute("enterkeyhint", "done")
    expect(phone.box).to_have_attribute("autocorrect", "off")
    expect(phone.box).to_have_attribute("autocapitalize", "off")
    phone.box.press_sequentially(" It was cold.")
    phone.box.press("Enter")
    phone.wait_for(f"{LONG} It was cold.")


def test_a_scene_on_its_side_has_no_foot_and_a_header_of_one_line(phone: Journey) -> None:
    phone.page.set_viewport_size({"width": 844, "height": 390})
    phone.page.goto(f"{phone.address}/?scene=2")
    expect(phone.page.locator('[data-cell="story"]')).to_be_visible()
    phone.answered()
    assert box_of(phone.page.get_by_test_id("stHeader"))["height"] <= 45
    expect(phone.page.locator('[data-cell="footer"]')).to_be_hidden()
