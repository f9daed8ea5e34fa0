"""A newcomer presses one button, and sees a network learn."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

LONG_MS = 180_000  # the training steps back for whatever else the machine does


def test_a_newcomer_presses_one_button_and_sees_words_change_and_the_loss_fall(
    new_page: OpenPage,
) -> None:
    page = new_page().page
    page.goto(f"{new_page().address}/learn")
    page.get_by_role("button", name="Train", exact=True).click()
    words = page.locator('[data-cell="learn-words"] li bdi')
    said = page.locator('[data-cell="learn-bar"] .said')
    expect(words).to_have_count(5, timeout=LONG_MS)
    before = words.all_inner_texts()
    expect(said).to_have_text(re.compile(r"step [1-9]\d{2,} of 3,000"), timeout=LONG_MS)
    assert words.all_inner_texts() != before
    hits = page.locator('[data-cell="learn-loss"] .sentence .number')
    assert float(hits.inner_text().strip("%<")) >= 14  # what guessing by frequency gets
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible(timeout=LONG_MS)
    step = int(said.inner_text().split()[1].replace(",", ""))
    page.get_by_role("button", name="One step").click()
    expect(said).to_contain_text(f"step {step + 1:,} ", timeout=LONG_MS)
    slider = page.get_by_role("slider")
    slider.focus()
    slider.press("Home")
    expect(said).to_contain_text("step 0 of 3,000")
    expect(page).to_have_url(re.compile("learn_at=0"))
    page.get_by_role("button", name="Start again").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_visible()


def test_a_bet_must_be_made_before_it_is_decided(new_page: OpenPage) -> None:
    page = new_page().page
    page.goto(f"{new_page().address}/learn?part=bet")
    train = page.get_by_role("button", name="Train both")
    expect(train).to_be_disabled()
    page.get_by_role("button", name="no difference").click()
    expect(train).to_be_enabled()
    expect(page.get_by_role("button", name="no difference", pressed=True)).to_be_visible()


def test_within_a_minute_of_one_core_it_says_sensible_words(new_page: OpenPage) -> None:
    page = new_page().page
    page.goto(f"{new_page().address}/learn?text=I don't [MASK] it.")
    words = page.locator('[data-cell="learn-words"] li bdi')
    expect(words).to_have_count(5, timeout=LONG_MS)
    verbs = {"know", "want", "like", "think", "have", "need", "see", "believe", "understand"}
    assert not verbs & set(words.all_inner_texts()), "it knows nothing yet"
    page.get_by_role("button", name="Train", exact=True).click()
    hits = page.locator('[data-cell="learn-loss"] .sentence .number')
    expect(hits).to_have_text(re.compile(r"(4[5-9]|[5-9]\d)%"), timeout=3 * LONG_MS)
    said = page.locator('[data-cell="learn-bar"] .said').inner_text()
    assert int(re.findall(r"(\d+) s of one core", said)[0]) <= 60
    assert verbs & set(words.all_inner_texts())
    # Then it is a network like any other.
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Show on all pages").click(timeout=LONG_MS)
    expect(page).to_have_url(re.compile("/\\?.*twin=learned-relu-"))
    expect(page.locator('[data-cell="ffn"] .sentence')).to_contain_text("64 numbers → 256")
    visitor = new_page().page
    visitor.goto(page.url.replace("/?", "/sparsity?"))
    expect(visitor.get_by_role("radio", name=re.compile("^learned-relu"))).to_be_checked()
