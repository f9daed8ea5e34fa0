"""A lecture on the page: a story to follow, a talk to give, and a file of one's own."""

import json
from collections.abc import Sequence

from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as Timeout

from ffnviz.lecture.chosen import BUILT_IN, OURS, lecture_file
from tests.browser.axe import violations
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey
from tests.browser.test_parts import FAULTS, FITTED, FRAMES
from tests.lecture.lecture_runs import catalog, said, scene_text, shown

TITLES = [scene.title for scene in lecture_file(OURS, catalog()).scenes]
FIRST = lecture_file(OURS, catalog()).scenes[0].state.sentence


BEFORE_TRAINING = "learn"  # the page that has no picture yet when a scene leads to it


def settled(journey: Journey) -> bool:
    """Wait for the scene; whether it has a picture."""
    if f"/{BEFORE_TRAINING}" in journey.page.url:
        journey.answered()
        return False
    journey.settle()
    return True


def at(journey: Journey) -> str:
    """The scene's title."""
    return journey.page.locator(".story h2").first.inner_text()


LAST_ROW = 18  # pixels, of the smallest type in a talk
OF_A_BLOCK = 16  # of the names of many stations in one row
THERE = """() => [...document.querySelectorAll(".sheet > .rows .cell")]
    .some((cell) => cell.checkVisibility() && cell.getBoundingClientRect().height > 30)"""
FITS = """() => { const m = document.querySelector('[data-testid="stMain"]');
    return m.scrollHeight <= m.clientHeight && m.scrollWidth <= m.clientWidth; }"""

TOP = """() => {
    dispatchEvent(new Event("wheel"));  // as somebody who scrolls: the scene brings no more
    document.querySelector('[data-testid="stMain"]').scrollTop = 0;
}"""

SIDE = """() => { const m = document.querySelector('[data-testid="stMain"]');
    return m.scrollWidth <= m.clientWidth; }"""


def complaints(journey: Journey, sizes: Sequence[tuple[int, int]], smallest: int) -> list[str]:
    """What is wrong with a scene in windows of these sizes."""
    page, found = journey.page, []
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(FRAMES)
        page.wait_for_function(FITTED, arg=[width, height])
        page.evaluate(FRAMES)
        try:
            page.wait_for_function(FITS if smallest else SIDE, timeout=5_000)
        except Timeout:
            found.append(f"it does not fit {width} × {height}")
        page.evaluate(TOP)  # what has been scrolled below the page's own bar lies under it
        faults = page.evaluate(FAULTS, {"smallest": smallest})
        # On a telephone the tokens stand in a row that is moved along.
        found += [each for each in faults if smallest or not each.startswith("cut:")]
    found += [each["id"] for each in violations(page)]
    return [f"{at(journey)}: {each}" for each in found]


def test_a_newcomer_follows_the_story_leaves_it_and_comes_back(new_page: OpenPage) -> None:
    journey = new_page()
    page = journey.page
    page.goto(f"{journey.address}/")
    journey.settle()
    journey.box.fill("My own [MASK] here.")
    journey.wait_for("My own")
    page.get_by_role("button", name="Follow the story (8 minutes)").click()
    expect(page.locator(".story h2").first).to_have_text(TITLES[0])
    journey.wait_for(FIRST)
    expect(page.get_by_role("button", name="Close the welcome")).to_be_hidden()
    page.get_by_role("button", name="Show the answer").click()
    expect(page.locator(".story .say")).to_contain_text(
        said("{says}, with a probability of {says_share}.", shown("journey", text=FIRST))
    )
    assert page.locator("[data-lit]").count() == 1
    journey.press("Next →").press("Next →").press("Next →")
    expect(page.locator(".story .where")).to_have_text("4 of 14")
    assert "/sparsity" in page.url
    expect(page.locator(".story .say")).to_be_hidden()  # a question is open
    page.get_by_role("button", name="One table, no wider than before").click()
    expect(page.get_by_text("Right.")).to_be_visible()
    expect(page.locator(".story .say")).to_contain_text("sets the rest to 0")
    journey.press("Leave")  # whoever has typed nothing has their own sentence again
    assert page.locator("[data-dim]").count() == 0
    expect(journey.box).to_have_value("My own [MASK] here.")
    page.get_by_role("button", name="Lecture", exact=True).click()
    journey.press("Back to the lecture: scene 4 of 14")
    assert at(journey) == TITLES[3]
    journey.box.fill("It cost forty [MASK].")  # the numbers follow
    expect(page.get_by_text("You have left the scene.")).to_be_visible()
    journey.settle().press("Back to the scene")
    assert journey.query()["text"].startswith("A fly has")
    page.go_back()
    expect(journey.box).to_have_value("It cost forty [MASK].")
    journey.settle().press("Leave")
    expect(journey.box).to_have_value("It cost forty [MASK].")  # what was typed on the way stays
    page.get_by_role("button", name="Lecture", exact=True).click()
    journey.press("Back to the lecture: scene 4 of 14")
    page.reload()
    journey.settle()
    assert at(journey) == TITLES[3]


# What is seen of the page below the scene's words, the foot left out.
SEEN = """() => {
    const all = { visibilityProperty: true, opacityProperty: true };
    const seen = [];
    const look = (root) => {
        for (const each of root.querySelectorAll("*")) {
            if (each.shadowRoot) look(each.shadowRoot);
            const { width, height } = each.getBoundingClientRect();
            const leaf = each.childElementCount === 0 && width > 1 && height > 1;
            if (leaf && each.checkVisibility(all)) seen.push(each.outerHTML.slice(0, 80));
        }
    };
    const below = document.querySelectorAll('[data-cell="story"] ~ .cell, .sheet > .rows .cell');
    for (const cell of below)
        if (cell.checkVisibility(all)) look(cell.shadowRoot);
    return seen;
}"""

OPEN_QUESTION = ".story .question.open"

LIT = """() => {
    const boxes = [...document.querySelectorAll("[data-lit]")]
        .map((host) => host.getBoundingClientRect());
    const { bottom } = document.querySelector("[data-cell=story]").getBoundingClientRect();
    const foot = document.querySelector(".sheet > .below");
    const end = getComputedStyle(foot).position === "sticky" && foot.checkVisibility()
        ? foot.getBoundingClientRect().top : innerHeight;
    return boxes.length > 0
        && boxes.every((box) => box.height > 100 && box.top >= bottom && box.bottom <= end);
}"""


def answered(page: Page) -> None:
    """Show the answer, if the scene has a question, and see what it says."""
    if page.locator(OPEN_QUESTION).count():
        page.get_by_role("button", name="Show the answer").click()
    expect(page.locator(".story .say")).to_be_visible()


def test_each_scene_brings_its_picture_into_the_window_and_nothing_answers_its_question(
    new_page: OpenPage,
) -> None:
    journey = new_page(width=1280, height=720)
    page = journey.page
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{journey.address}/?scene=1")
    journey.wait_for("A fly has")
    for title in TITLES:
        expect(page.locator(".story h2").first).to_have_text(title)
        drawn = settled(journey)
        if page.locator(OPEN_QUESTION).count():
            assert page.evaluate(SEEN) == [] or not drawn, title
        answered(page)
        if drawn and title != TITLES[-1]:  # there all are lit
            page.wait_for_function(LIT)
        if title != TITLES[-1]:
            page.get_by_role("button", name="Next →").click()
    assert errors == []


def test_a_talk_is_given_by_keyboard_alone_from_the_first_scene_to_the_last(
    new_page: OpenPage,
) -> None:
    journey = new_page(dark=True, width=1280, height=720)
    page = journey.page
    page.goto(f"{journey.address}/?scene=1&present=1")
    journey.wait_for("A fly has")
    seen, wrong = [at(journey)], []
    halls = ((1920, 1080), (1280, 720))
    for _ in range(2 * len(TITLES)):
        wrong += complaints(journey, halls, LAST_ROW)
        open_question = page.locator(OPEN_QUESTION).count()
        if not open_question and page.locator(".story .question:visible").count():
            expect(page.locator(".story .ask")).to_be_visible()  # what was asked is still there
        page.keyboard.press("PageDown")
        if open_question:
            expect(page.locator(".story .say")).to_be_visible()
            continue
        if seen[-1] == TITLES[-1]:
            break
        expect(page.locator(".story h2").first).to_have_text(TITLES[len(seen)])
        settled(journey)
        seen.append(at(journey))
    assert seen == TITLES
    assert wrong == []
    page.keyboard.press("Home")
    expect(page.locator(".story h2").first).to_have_text(TITLES[0])
    journey.settle()
    expect(page.get_by_role("button", name="Copy link")).to_be_hidden()
    page.mouse.move(1200, 30)  # a mouse that is left there covers nothing of the scene's title
    tools = page.locator(".story .tools").bounding_box()
    title = page.locator(".story h2").first.bounding_box()
    assert tools is not None
    assert title is not None
    assert tools["y"] > title["y"] + title["height"]
    expect(page.locator(".story .tools")).to_have_css("opacity", "1")
    expect(page.locator(".story .tools")).to_have_css("opacity", "0")
    expect(page.get_by_role("button", name="Leave")).to_be_hidden()  # “End the talk” is the way out
    page.keyboard.press("b")
    expect(page.locator(".blank")).to_be_visible()
    page.keyboard.press("ArrowRight")  # whatever is pressed, light comes back first
    expect(page.locator(".blank")).to_be_hidden()
    page.keyboard.press("g")
    page.get_by_role("dialog", name="Scenes").get_by_role("button", name=TITLES[5]).press("Enter")
    expect(page.locator(".story h2").first).to_have_text(TITLES[5])
    page.keyboard.press("e")  # what if?
    expect(journey.box).to_be_visible()
    journey.box.fill("The old dog [MASK].")
    expect(page.get_by_text("You have left the scene.")).to_be_visible()
    journey.settle()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(journey.box).to_be_hidden()
    journey.settle()
    assert journey.query()["text"].startswith("A fly has")
    with page.context.expect_page() as opened:
        page.keyboard.press("n")
    notes = opened.value
    expect(notes.locator("h1")).to_have_text(f"6 of {len(TITLES)}: {TITLES[5]}")
    expect(notes.locator("#coming")).to_have_text(f"Next: {TITLES[6]}")
    notes.keyboard.press("End")
    expect(notes.locator("h1")).to_contain_text(TITLES[-1])
    expect(page.locator(".story h2").first).to_have_text(TITLES[-1])
    notes.close()
    journey.settle()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()


def test_the_course_is_chosen_from_the_menu_presented_to_its_end_and_fits_a_hall(
    new_page: OpenPage,
) -> None:
    scenes = lecture_file(BUILT_IN["course"], catalog()).scenes
    titles = [scene.title for scene in scenes]
    journey = new_page(width=1920, height=1080)
    page, wrong = journey.page, []
    page.goto(f"{journey.address}/")
    journey.settle()
    page.get_by_role("button", name="Lecture", exact=True).click()
    journey.press(f"A course, in a textbook's order ({len(titles)} scenes, 45 minutes)")
    journey.wait_for("She opened")
    assert journey.query()["lecture"] == "course"
    page.reload()
    journey.settle()
    assert at(journey) == titles[0]
    page.get_by_role("button", name="Present").click()
    journey.settle()
    for scene in scenes:
        expect(page.locator(".story h2").first).to_have_text(scene.title)
        if page.locator(OPEN_QUESTION).count():
            page.keyboard.press("PageDown")
        expect(page.locator(".story .say")).to_be_visible()
        if scene.look:  # some measure before they have it
            page.wait_for_function(LIT, timeout=90_000)
        page.wait_for_function(THERE)
        wrong += complaints(journey, ((1920, 1080),), OF_A_BLOCK)
        page.keyboard.press("PageDown")
    assert wrong == []


def test_every_scene_of_the_story_fits_a_telephone(new_page: OpenPage) -> None:
    journey = new_page(width=390, height=844)
    page, wrong = journey.page, []
    page.goto(f"{journey.address}/?scene=1")
    journey.wait_for("A fly has")
    for title in TITLES:
        expect(page.locator(".story h2").first).to_have_text(title)
        drawn = settled(journey)
        answered(page)
        if drawn and title != TITLES[-1]:
            expect(page.locator("[data-lit]").first).to_be_in_viewport()
        wrong += complaints(journey, ((390, 844),), 0)
        if title != TITLES[-1]:
            page.get_by_role("button", name="Next →").click()
    assert wrong == []


def test_views_are_collected_put_in_order_saved_and_opened(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text="It cost forty [MASK].", part="keep")
    page = journey.page

    def choose(words: str) -> None:
        page.get_by_role("button", name="Lecture", exact=True).click()
        page.get_by_role("button", name=words).click()
        journey.answered()

    choose("Add this view")
    expect(page.get_by_text("Added: it is scene 1 of your lecture.")).to_be_visible()
    page.keyboard.press("Escape")
    journey.part("Active neurons").part("neurons that never fire")
    choose("Add this view")
    page.keyboard.press("Escape")
    choose("My lecture (2 views)")
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
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as a file").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert text.index('"never"') < text.index("It says {says}.")
    # What is half done is there again after a reload, and in another tab of the same browser.
    page.get_by_label("What to say").first.fill("It says {nothing")
    page.keyboard.press("Tab")
    expect(page.get_by_text("a brace stands alone")).to_be_visible()
    journey.answered()
    page.reload()
    journey.settle()
    choose("My lecture (2 views)")
    expect(page.get_by_label("Title", exact=True)).to_have_value("Two <b>views</b>")
    scenes.get_by_role("button", name="2. ").click()
    expect(page.get_by_label("What to say").first).to_have_value("It says {nothing")
    other = new_page().open_page("sparsity", text="It rained.")
    other.page.get_by_role("button", name="Lecture", exact=True).click()
    other.page.get_by_role("button", name="Add this view").click()
    expect(other.text("Added: it is scene 3 of your lecture.")).to_be_visible()
    other.answered()
    page.evaluate("dispatchEvent(new Event('focus'))")  # one comes back to this tab
    expect(scenes.get_by_role("listitem")).to_have_count(3)
    page.get_by_role("button", name="Begin a new one").click()
    expect(page.get_by_text("It is still empty.")).to_be_visible()
    page.evaluate("localStorage.setItem('ffnviz-lecture', '{\"scenes\": [3, \"<b>\"]}')")
    page.reload()
    journey.settle()
    choose("My lecture (0 views)")
    expect(page.get_by_text("It is still empty.")).to_be_visible()
    broken = text.replace('part = "awake"', 'part = "death"')
    file = page.locator("input[type=file]")
    file.set_input_files({"name": "b.toml", "mimeType": "", "buffer": broken.encode()})
    expect(page.get_by_text("b.toml: Scene 1")).to_contain_text("part must be one of")
    file.set_input_files({"name": "a.toml", "mimeType": "", "buffer": text.encode()})
    expect(page.get_by_text("could not be opened")).to_be_hidden()
    journey.answered()
    page.get_by_role("button", name="Show it").click()
    journey.wait_for("It cost forty")
    expect(page.locator(".story .where")).to_have_text("1 of 2")
    journey.press("Next →")
    expect(page.locator(".story .say")).to_contain_text(
        said("It says {says}.", shown("journey", text="It cost forty [MASK]."))
    )


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


def desk_with(lecture: str, new_page: OpenPage) -> Journey:
    """A page whose lecture desk has opened this file."""
    journey = new_page(width=1280, height=720).open(text="It rained.")
    page = journey.page
    page.get_by_role("button", name="Lecture", exact=True).click()
    page.get_by_role("button", name="My lecture (").click()
    page.locator("input[type=file]").set_input_files(
        {"name": "a.toml", "mimeType": "", "buffer": lecture.encode()}
    )
    expect(page.get_by_role("button", name="1. All of it")).to_be_visible()
    journey.answered()
    expect(page.get_by_label("Title", exact=True)).to_have_value("Two views")
    return journey


def test_a_scene_is_dragged_gets_a_number_and_is_seen_as_a_hall_sees_it(new_page: OpenPage) -> None:
    journey = desk_with(LECTURE, new_page)
    page = journey.page
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
    start = scenes.get_by_role("button", name="Move scene 2").bounding_box()
    end = scenes.get_by_role("button", name="Move scene 1").bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 5, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(end["x"] + 5, end["y"] + 5, steps=4)
    page.mouse.up()
    expect(scenes.locator("b").first).to_have_text("1. The second")
    journey.answered()
    page.get_by_role("button", name="Preview").click()
    journey.wait_for("It cost forty [MASK].")
    assert at(journey) == "The second"
    expect(page.locator("html[data-presenting]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(scenes.locator(".chosen b")).to_have_text("1. The second")
    assert "scene" not in journey.query()


def test_in_a_talk_all_pictures_wait_for_the_answer_and_none_has_tools(new_page: OpenPage) -> None:
    journey = desk_with(LECTURE, new_page)
    page = journey.page
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


def test_a_link_hides_what_a_course_page_does_not_want(new_page: OpenPage) -> None:
    journey = new_page().open(text="It rained.", hide="pages,sentence,tokens,foot,<b>")
    page = journey.page
    expect(page.locator(".picture").first).to_be_visible()
    assert journey.query()["hide"] == "pages,sentence,tokens,foot"
    for gone in (journey.box, journey.chips.first, page.get_by_role("link", name="Activation"),
                 page.get_by_role("button", name="Glossary")):  # fmt: skip
        expect(gone).to_be_hidden()
    page.goto(f"{journey.address}/?text=It+rained.&embed=true")
    journey.wait_for("It rained.")
    box = page.locator('[data-testid="stMainBlockContainer"]').bounding_box()
    assert box is not None, json.dumps(journey.query())
    assert box["y"] < 40
