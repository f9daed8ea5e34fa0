"""A lecture of one's own: views are collected, put in order, saved, seen as a hall sees them."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey, box_of, download
from tests.browser.test_lecture import APART, HALLS, LAST_ROW, OPEN_QUESTION, complaints, title_of
from tests.lecture.lecture_runs import said, scene_text, shown

LECTURE = (
    'title = "Two views"\nminutes = 10\n'
    + scene_text(
        {"page": "journey", "text": "It cost forty [MASK]."},
        ("What can cost forty of something?", "years", "pounds", "1"),
        title="All of it",
        say="It says {says}.",
    )
    + scene_text(
        {"page": "sparsity", "part": "keep", "text": "It cost forty [MASK]."},
        title="The second",
        say="S",
    )
)


def choose(journey: Journey, words: str) -> None:
    """An entry of the menu of lectures."""
    journey.page.get_by_role("button", name="Lecture", exact=True).click()
    journey.page.get_by_role("button", name=words).click()
    journey.answered()


def open_file(page: Page, name: str, lecture: str) -> None:
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "", "buffer": lecture.encode()}
    )


def test_views_are_collected_put_in_order_saved_and_opened(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="It cost forty [MASK].", part="keep")
    page = journey.page
    choose(journey, "Add this view")
    expect(page.get_by_text("Added: it is scene 1 of your lecture.")).to_be_visible()
    page.keyboard.press("Escape")
    journey.part("Active neurons").part("neurons that never fire")
    choose(journey, "Add this view")
    page.keyboard.press("Escape")
    choose(journey, "My lecture (2 views)")
    page.get_by_label("Title", exact=True).fill("Two <b>views</b>")
    page.get_by_label("What to say").first.fill("It says {says}, and {nothing}.")
    page.keyboard.press("Tab")
    expect(page.get_by_text("there is no computed number called “{nothing}”.")).to_be_visible()
    page.get_by_label("What to say").first.fill("It says {says}.")
    page.keyboard.press("Tab")
    journey.answered()
    expect(page.get_by_role("button", name="Show it")).to_be_enabled()
    journey.answered()
    scenes = page.get_by_role("navigation", name="Scenes of my lecture")
    expect(scenes.locator("img")).to_have_count(2)
    for picture in scenes.locator("img").all():
        assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") >= 100
    handle = scenes.get_by_role("button", name="Move scene 1")
    handle.press("ArrowDown")
    expect(scenes.locator(".chosen b")).to_contain_text("2. ")
    expect(scenes.get_by_role("button", name="Move scene 2")).to_be_focused()
    expect(page.get_by_label("What to say")).to_have_value("It says {says}.")
    file = download(page.get_by_role("button", name="Save as a file")).path()
    text = file.read_text(encoding="utf-8")
    assert text.index('"never"') < text.index("It says {says}.")
    # What is half done is there again after a reload, and in another tab of the same browser.
    page.get_by_label("What to say").first.fill("It says {nothing")
    page.keyboard.press("Tab")
    expect(page.get_by_text("a brace stands alone")).to_be_visible()
    journey.answered()
    page.reload()
    journey.settle()
    choose(journey, "My lecture (2 views)")
    expect(page.get_by_label("Title", exact=True)).to_have_value("Two <b>views</b>")
    scenes.get_by_role("button", name="2. ").click()
    expect(page.get_by_label("What to say").first).to_have_value("It says {nothing")
    other = new_page().open_page("sparsity", text="It rained.")
    choose(other, "Add this view")
    expect(other.text("Added: it is scene 3 of your lecture.")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('focus'))")  # one comes back to this tab
    expect(scenes.get_by_role("listitem")).to_have_count(3)
    page.get_by_role("button", name="Begin a new one").click()
    expect(page.get_by_text("It is still empty.")).to_be_visible()
    page.evaluate("localStorage.setItem('ffnviz-lecture', '{\"scenes\": [3, \"<b>\"]}')")
    page.reload()
    journey.settle()
    choose(journey, "My lecture (0 views)")
    expect(page.get_by_text("It is still empty.")).to_be_visible()
    broken = text.replace('part = "awake"', 'part = "death"')
    open_file(page, "b.toml", broken)
    expect(page.get_by_text("b.toml: Scene 1")).to_contain_text("part must be one of")
    open_file(page, "a.toml", text)
    expect(page.get_by_text("could not be opened")).to_be_hidden()
    journey.answered()
    page.get_by_role("button", name="Show it").click()
    journey.wait_for("It cost forty")
    expect(page.locator(".story .where")).to_have_text("1 of 2")
    journey.press("Next →")
    expect(page.locator(".story .say")).to_contain_text(
        said("It says {says}.", shown("journey", text="It cost forty [MASK]."))
    )


def test_a_lecture_is_seen_as_a_hall_sees_it_and_changed(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open(text="It rained.")
    page = journey.page
    choose(journey, "My lecture (")
    open_file(page, "a.toml", LECTURE)
    expect(page.get_by_role("button", name="1. All of it")).to_be_visible()
    journey.answered()
    expect(page.get_by_label("Title", exact=True)).to_have_value("Two views")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("html[data-presenting]")).to_have_count(1)
    expect(page.locator(OPEN_QUESTION)).to_be_visible()
    journey.settle()
    pictures = page.locator(".hung:has(> .head)")
    expect(pictures).to_have_count(5)
    for picture in pictures.all():
        expect(picture).to_be_hidden()
    with page.context.expect_page() as opened:
        page.keyboard.press("n")
    expect(opened.value.locator("#time")).to_contain_text("elapsed of 10:00 planned")
    expect(opened.value.locator("#time")).to_contain_text("this scene ends at 5:00")
    opened.value.evaluate("() => { const now = Date.now; Date.now = () => now() + 420_000; }")
    expect(opened.value.locator("#time")).to_contain_text("behind")
    opened.value.close()
    page.keyboard.press("PageDown")
    expect(page.locator(".story .say")).to_be_visible()
    expect(page.locator(".hung:has(> .head):visible")).to_have_count(4)  # a talk has no tokens
    for tool in page.locator(".hung .head .tools").all():
        expect(tool).to_be_hidden()
    page.keyboard.press("Escape")
    journey.answered()

    words = page.get_by_label("What to say")
    words.fill("Before  after.")
    words.evaluate("(area) => area.setSelectionRange(7, 7)")
    page.get_by_role("button", name="Insert a number").first.click()
    choice = page.get_by_role("button", name="the likeliest word at the chosen token")
    expect(choice.locator("b")).to_have_text("“days”")
    page.get_by_role("searchbox", name="Search the numbers").first.fill("d_ff")
    expect(choice).to_be_hidden()
    page.get_by_role("button", name="how many neurons an FFN has").click()
    expect(words).to_have_value("Before {d_ff} after.")
    expect(page.locator(".reads").first).to_have_text("Before 2,048 after.")
    journey.answered()
    scenes = page.get_by_role("navigation", name="Scenes of my lecture")
    start = box_of(scenes.get_by_role("button", name="Move scene 2"))
    end = box_of(scenes.get_by_role("button", name="Move scene 1"))
    page.mouse.move(start["x"] + 5, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(end["x"] + 5, end["y"] + 5, steps=4)
    page.mouse.up()
    expect(scenes.locator("b").first).to_have_text("1. The second")
    journey.answered()
    page.get_by_role("button", name="Preview").click()
    journey.wait_for("It cost forty [MASK].")
    expect(title_of(page)).to_have_text("The second")
    expect(page.locator("html[data-presenting]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(scenes.locator(".chosen b")).to_have_text("1. The second")
    assert "scene" not in journey.query()


def test_a_lecture_made_by_clicking_is_given_and_fits_a_hall(new_page: OpenPage) -> None:
    journey, wrong = new_page(width=1280, height=720), []
    page = journey.page
    for name, part in (("journey", ""), ("sparsity", "keep"), ("block", "block")):
        more = {"part": part} if part else {}
        journey.open_page(name, text="The old king sat on his [MASK].", **more)
        choose(journey, "Add this view")
        expect(journey.text("Added: it is scene")).to_be_visible()
    page.keyboard.press("Escape")
    choose(journey, "My lecture (3 views)")
    expect(page.get_by_label("Title", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="1. ").click()
    journey.answered()
    page.get_by_label("A question, asked before").fill("On what does an old king sit?")
    options = page.get_by_label("Its options")
    options.press_sequentially("a throne", delay=200)  # meanwhile the form says what is missing
    expect(options).to_have_value("a throne")
    options.fill("a throne\na horse")
    page.keyboard.press("Tab")
    expect(page.get_by_text("which option is right? Put * before it")).to_be_visible()
    expect(page.get_by_role("button", name="Show it")).to_be_disabled()
    page.get_by_label("Its options").fill("*a throne\na horse")
    page.keyboard.press("Tab")
    journey.answered()
    page.get_by_role("button", name="Worksheet to print").click()
    sheet = download(page.get_by_role("button", name="Save the worksheet")).path()
    assert "On what does an old king sit?" in sheet.read_text(encoding="utf-8")
    page.get_by_role("button", name="Show it").click()
    journey.answered()
    page.get_by_role("button", name="Present", exact=True).click()
    for at in range(3):
        expect(page.locator(".story .where")).to_have_text(f"{at + 1} of 3")
        journey.settle()
        if at == 0:
            page.get_by_role("button", name="a horse").click()
            expect(page.locator(".story .say")).to_be_visible()
            journey.settle()
        wrong += complaints(journey, HALLS[1:], 0, ["color-contrast"])
        wrong += complaints(journey, HALLS[:1], LAST_ROW)
        page.wait_for_function(APART)
        if at < 2:
            page.get_by_role("button", name="Next →").click()
    assert wrong == []
