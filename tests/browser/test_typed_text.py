"""What a person types is data: any text is shown as it is, and nothing of it becomes markup."""

from urllib.parse import quote

from playwright.sync_api import expect

from ffnviz.state.state import tidied
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

AWKWARD = {
    "one character": "x",
    "emoji": "🙂👩\u200d👩\u200d👧 🏴\U000e0067\U000e0062",
    "right to left": "مرحبا بالعالم",
    "CJK": "你好,世界",
    "combining marks": "Z\u0351\u036ba\u0300l\u0310go",
    "script": "<script>window.hacked = 1</script>",
    "style": "<style>* { display: none }</style>",
    "image": "![x](https://example.org/a.png)",
    "html image": '<img src="x" onerror="window.hacked = 1">',
    "LaTeX": r"$$\frac{1}{0}$$ \input{x}",
    "mask alone": "[MASK]",
    "masks": "[MASK] " * 40,
}
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
    for name, text in AWKWARD.items():
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
        assert missing == [], name


def test_control_characters_from_a_link_do_no_harm(new_page: OpenPage) -> None:
    journey = new_page()
    for text in ("\x00", "a\x00b\x07\x1b[31m", "\u202eabc"):
        journey.page.goto(f"{journey.address}/?text={quote(text)}")
        journey.settle()
        check_is_whole(journey)


def test_an_empty_box_asks_for_a_sentence(new_page: OpenPage) -> None:
    journey = new_page().open(text="Hello.")
    journey.box.fill("")
    journey.box.press("Enter")
    journey.page.locator('[data-cell="empty"]').wait_for()
    journey.box.fill("Hello again.")
    journey.box.press("Enter")
    journey.wait_for("Hello again.")


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
