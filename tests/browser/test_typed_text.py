"""What a person types: any text is shown as it is, from either side, and none becomes markup."""

from itertools import pairwise
from urllib.parse import quote

from playwright.sync_api import expect

from ffnviz.state.state import tidied
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey, box_of

AWKWARD = (
    "x",
    # Emoji, from the right, Chinese, and letters with many marks.
    "🙂👩\u200d👩\u200d👧 🏴\U000e0067\U000e0062 مرحبا بالعالم "
    "你好,世界 Z\u0351\u036ba\u0300l\u0310go",
    "<script>window.hacked = 1</script> <style>* { display: none }</style>",
    '![x](https://example.org/a.png) <img src="x" onerror="window.hacked = 1">',
    r"$$\frac{1}{0}$$ \input{x}",
    "[MASK]",
    "[MASK] " * 40,
)
CONTROL = "\x00 a\x00b\x07\x1b[31m \u202eabc"
SENTENCE = "She opened the [MASK] and looked out."
HEBREW = "האיש פתח את ה [MASK] ויצא"
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
IN_SIGHT = """(chip) => {
    const [own, row] = [chip, chip.parentElement].map((e) => e.getBoundingClientRect());
    return own.top >= row.top - 1 && own.bottom <= row.bottom + 1;
}"""
# Elements that only the typed text could have made, wherever they are.
INJECTED = """() => {
    const roots = [document, ...[...document.querySelectorAll("*")].map((e) => e.shadowRoot)];
    const all = (selector) =>
        roots.filter(Boolean).flatMap((root) => [...root.querySelectorAll(selector)]);
    return all("img[src*='example.org'], img[src='x']").length
        + all("script").filter((e) => e.textContent.includes("window.hacked")).length
        + all("style").filter((e) => e.textContent.includes("* { display: none }")).length
        + (window.hacked ? 1 : 0);
}"""


def check_is_whole(journey: Journey) -> None:
    assert journey.page.evaluate(INJECTED) == 0
    assert journey.page.locator('[data-testid="stException"]').count() == 0
    assert "Traceback" not in journey.page.locator("body").inner_text()


def test_awkward_text_is_shown_as_text(new_page: OpenPage) -> None:
    journey = new_page().open(text="Hello.")
    for text in AWKWARD:
        journey.box.fill(text)
        journey.box.press("Enter")
        journey.page.wait_for_function(
            "(text) => new URLSearchParams(location.search).get('text') === text", arg=tidied(text)
        )
        journey.settle()
        check_is_whole(journey)
        shown = "".join(journey.chips.locator("bdi").all_inner_texts())
        missing = [sign for sign in text if sign.isprintable() and not sign.isspace()
                   and sign not in shown]  # fmt: skip
        assert missing == [], text


def test_control_characters_from_a_link_do_no_harm(new_page: OpenPage) -> None:
    journey = new_page()
    journey.page.goto(f"{journey.address}/?text={quote(CONTROL)}")
    journey.settle()
    check_is_whole(journey)


def test_of_five_thousand_words_it_says_what_it_left_out(new_page: OpenPage) -> None:
    journey = new_page().open(text="Hello.")
    journey.box.fill("word " * 5_000)
    journey.box.press("Enter")
    notice = journey.page.locator('[data-cell="left-out"] .text')
    notice.wait_for()
    journey.settle()
    assert "at most 128 tokens" in notice.inner_text()
    assert "first 1,999 characters" in notice.inner_text()
    assert journey.chips.count() == 128
    assert len(journey.page.url) < 2_000
    assert journey.box.input_value().startswith("word word")
    check_is_whole(journey)
    # The chosen token is the last: its chip is in sight, and rows of maps still say what they are.
    assert journey.page.locator('.row [aria-pressed="true"]').evaluate(IN_SIGHT)
    labels = journey.page.locator(".maps section").first.locator(".labels bdi").all_inner_texts()
    assert 20 < sum(map(bool, labels)) < 128
    journey.page.reload()
    expect(journey.box).to_have_value("word " * 5_000)
    notice.wait_for()


def test_a_sentence_from_the_right_stands_in_its_own_order(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open(text=HEBREW).settle()
    for before, after in pairwise(map(box_of, journey.chips.all())):
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
    journey.write(SENTENCE)
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
    journey.write(SENTENCE)
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
        assert rows.evaluate("(rows) => getComputedStyle(rows).opacity") < "0.5"
        assert rows.evaluate("(rows) => rows.inert")
        expect(journey.box).to_be_focused()
    journey.write("a\t\tred   [MASK]", read="a red [MASK]")
    assert journey.chips.locator("bdi").all_inner_texts() == ["a", "red", "[MASK]"]
    expect(rows).to_have_css("opacity", "1")
    expect(empty).to_have_count(0)
    # Another page's pictures do not stay for what is not theirs.
    journey.box.fill("")
    journey.box.press("Enter")
    journey.answered()
    journey.page.get_by_role("link", name="Block").click()
    expect(journey.page.locator('.rows [data-cell="empty"]')).to_be_visible()


def test_what_was_hidden_can_be_unhidden(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open(text="He drank a cup of tea.").settle()
    journey.choose_token(3)
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
