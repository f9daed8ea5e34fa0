"""What is typed, clicked and measured on the pages Vocabulary, Timing and Learn."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import box_of

LONG_MS = 180_000  # the training steps back for whatever else the machine does


def test_a_written_word_is_looked_into_and_the_text_taken_over(new_page: OpenPage) -> None:
    journey = new_page().open_page("vocabulary", text="The old man", part="write", words="6")
    assert journey.sentence("step").startswith("Word 6")
    bar = box_of(journey.chart("write").locator(".bars .point").nth(1))
    journey.click_at(bar["x"] + bar["width"] / 2, bar["y"] - 3)  # above the bar
    assert journey.sentence("step").startswith("Word 2")
    assert journey.query()["step"] == "2"
    words = journey.sentence("write").partition("” ")[2].replace(",", " ,").split()
    journey.page.get_by_role("button", name="Use as my sentence").click()
    expect(journey.box).not_to_have_value("The old man")
    assert journey.box.input_value().replace(",", " ,").split() == ["The", "old", "man", *words]


def test_times_are_measured_at_once_and_again_and_stay(new_page: OpenPage) -> None:
    journey = new_page()
    page = journey.page
    page.goto(f"{journey.address}/timing?text=The cat sat on the mat.&part=stages&repeats=10")
    page.locator("figure[data-painted]").first.wait_for()  # it waits for no press
    slider = page.get_by_role("slider", name="runs of each")
    slider.focus()
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "20")
    page.get_by_role("button", name="Measure").click()
    expect(journey.chart("stages").locator(".sentence")).to_contain_text("20 runs of each")
    assert journey.query()["repeats"] == "20"
    products = page.get_by_role("radio", name="matrix products")
    products.click()
    expect(journey.chart("products").locator(".bars .point")).to_have_count(6)
    before = journey.sentence("products")
    page.get_by_role("radio", name="CPU and GPU").click()
    expect(journey.text("No GPU was found").or_(
        page.get_by_role("button", name="Measure")).first).to_be_visible()  # fmt: skip
    products.click()
    expect(journey.chart("products").locator(".sentence")).to_have_text(before)
    expect(journey.chart("products").locator(".bars .point")).to_have_count(6)


def test_one_button_and_within_a_minute_it_says_sensible_words(new_page: OpenPage) -> None:
    page = new_page().page
    page.goto(f"{new_page().address}/learn?text=I don't [MASK] it.")
    words = page.locator('[data-cell="learn-words"] li bdi')
    said = page.locator('[data-cell="learn-bar"] .said')
    expect(words).to_have_count(5, timeout=LONG_MS)
    before = words.all_inner_texts()
    verbs = {"know", "want", "like", "think", "have", "need", "see", "believe", "understand"}
    assert not verbs & set(before), "it knows nothing yet"
    page.get_by_role("button", name="Train", exact=True).click()
    expect(said).to_have_text(re.compile(r"step [1-9]\d{2,} of 3,000"), timeout=LONG_MS)
    assert words.all_inner_texts() != before
    hits = page.locator('[data-cell="learn-loss"] .sentence .number')
    assert float(hits.inner_text().strip("%<")) >= 14  # what guessing by frequency gets
    expect(hits).to_have_text(re.compile(r"(4[5-9]|[5-9]\d)%"), timeout=3 * LONG_MS)
    assert int(re.findall(r"(\d+) s of one core", said.inner_text())[0]) <= 60
    assert verbs & set(words.all_inner_texts())

    # It is paused, taken a step further, and wound back.
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
    slider.press("End")
    expect(said).to_contain_text(f"step {step + 1:,} ")

    # Then it is a network like any other, until another is begun.
    page.get_by_role("button", name="Show on all pages").click(timeout=LONG_MS)
    expect(page).to_have_url(re.compile("/\\?.*twin=learned-relu-"))
    expect(page.locator('[data-cell="ffn"] .sentence')).to_contain_text("64 numbers → 256")
    visitor = new_page().page
    visitor.goto(page.url.replace("/?", "/sparsity?"))
    expect(visitor.get_by_role("radio", name=re.compile("^learned-relu"))).to_be_checked()
    page.get_by_role("link", name="Learn").click()
    page.get_by_role("button", name="Start again").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_visible()
