"""The lectures that are built in: a story to follow, a talk with the mouse, a course with keys."""

from collections.abc import Sequence

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as Timeout

from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey, box_of
from tests.browser.looks import FAULTS, FRAMES, PHONE, resized, violations
from tests.lecture.lecture_runs import lecture, said, shown

TITLES = [scene.title for scene in lecture().scenes]
FIRST = lecture().scenes[0].state.sentence
BEFORE_TRAINING = "learn"  # the page that has no picture yet when a scene leads to it
LAPTOP = (1280, 720)
HALLS = ((1920, 1080), LAPTOP)
LAST_ROW = 18  # pixels, of the smallest type in a talk
OF_A_BLOCK = 16  # of the names of many stations in one row
OPEN_QUESTION = ".story .question.open"

THERE = """() => [...document.querySelectorAll(".sheet > .rows .cell")]
    .some((cell) => cell.checkVisibility() && cell.getBoundingClientRect().height > 30)"""
FITS = """() => { const m = document.querySelector('[data-testid="stMain"]');
    return m.scrollHeight <= m.clientHeight && m.scrollWidth <= m.clientWidth; }"""
SIDE = """() => { const m = document.querySelector('[data-testid="stMain"]');
    return m.scrollWidth <= m.clientWidth; }"""
TOP = """() => {
    dispatchEvent(new Event("wheel"));  // as somebody who scrolls: the scene brings no more
    document.querySelector('[data-testid="stMain"]').scrollTop = 0;
}"""
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
# The buttons lie on no picture, and on no word of the scene.
APART = """() => {
    const story = document.querySelector("[data-cell=story]").shadowRoot;
    const tools = story.querySelector(".tools").getBoundingClientRect();
    const parts = [...document.querySelectorAll(".sheet > .rows .cell")]
        .map((cell) => cell.shadowRoot.querySelector(".hung"));
    parts.push(...story.querySelectorAll(".question, .say, h2"));
    return parts.filter((part) => part?.checkVisibility({ visibilityProperty: true }))
        .every((part) => part.getBoundingClientRect().bottom <= tools.top + 1);
}"""


def settled(journey: Journey) -> bool:
    """Wait for the scene; whether it has a picture."""
    if f"/{BEFORE_TRAINING}" in journey.page.url:
        journey.answered()
        return False
    journey.settle()
    return True


def title_of(page: Page) -> Locator:
    """Of the scene."""
    return page.locator(".story h2").first


def complaints(
    journey: Journey,
    sizes: Sequence[tuple[int, int]],
    smallest: int,
    rules: Sequence[str] = (),
) -> list[str]:
    """What is wrong with a scene in windows of these sizes, and by these rules of axe, or all."""
    page, found = journey.page, []
    for width, height in sizes:
        resized(page, width, height)
        page.evaluate(FRAMES)
        try:
            page.wait_for_function(FITS if smallest else SIDE, timeout=5_000)
        except Timeout:
            found.append(f"it does not fit {width} × {height}")
        page.evaluate(TOP)  # what has been scrolled below the page's own bar lies under it
        faults = page.evaluate(FAULTS, {"smallest": smallest})
        # On a phone the tokens stand in a row that is moved along.
        found += [each for each in faults if smallest or not each.startswith("cut:")]
    found += [each["id"] for each in violations(page, rules)]
    return [f"{title_of(page).inner_text()}: {each}" for each in found]


def test_a_newcomer_follows_the_story_leaves_it_and_comes_back(new_page: OpenPage) -> None:
    journey = new_page()
    page = journey.page
    page.goto(f"{journey.address}/")
    journey.settle()
    journey.box.fill("My own [MASK] here.")
    journey.wait_for("My own")
    page.get_by_role("button", name="Follow the story (8 minutes)").click()
    expect(title_of(page)).to_have_text(TITLES[0])
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
    expect(title_of(page)).to_have_text(TITLES[3])
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
    expect(title_of(page)).to_have_text(TITLES[3])


def test_each_scene_shows_its_picture_but_not_the_answer(new_page: OpenPage) -> None:
    journey, wrong, errors = new_page(width=1280, height=720), list[str](), list[str]()
    page = journey.page
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{journey.address}/?scene=1")
    journey.wait_for("A fly has")
    for at, title in enumerate(TITLES):
        size = (LAPTOP, PHONE)[at % 2]  # that it comes to
        expect(title_of(page)).to_have_text(title)
        drawn = settled(journey)
        if page.locator(OPEN_QUESTION).count():
            resized(page, *LAPTOP)
            assert page.evaluate(SEEN) == [] or not drawn, title
            resized(page, *size)
            page.get_by_role("button", name="Show the answer").click()
        expect(page.locator(".story .say")).to_be_visible()
        if drawn and title != TITLES[-1]:  # there all are lit
            if size == LAPTOP:
                page.wait_for_function(LIT)
            expect(page.locator("[data-lit]").first).to_be_in_viewport()
        wrong += complaints(journey, (PHONE,), 0)
        if title != TITLES[-1]:
            resized(page, *(PHONE, LAPTOP)[at % 2])
            page.get_by_role("button", name="Next →").click()
    assert wrong == []
    assert errors == []


def test_a_talk_is_given_with_the_mouse_alone_and_fits_a_hall(new_page: OpenPage) -> None:
    journey, wrong = new_page(dark=True, width=1280, height=720), list[str]()
    page = journey.page

    def look() -> None:
        """At all sizes, the last one first; axe has seen the same scenes in the light."""
        sizes.reverse()
        wrong.extend(complaints(journey, sizes, LAST_ROW, ["color-contrast"]))

    sizes = list(HALLS)
    page.goto(f"{journey.address}/?scene=1&lecture=ffn")
    journey.settle()
    page.get_by_role("button", name="Present", exact=True).click()
    expect(page.locator("html[data-presenting]")).to_have_count(1)
    for at, title in enumerate(TITLES):
        expect(title_of(page)).to_have_text(title)
        settled(journey)  # some scenes measure before they have their pictures
        look()
        if page.locator(OPEN_QUESTION).count():
            assert page.evaluate(APART), title
            options = page.locator(".story .question .options button")
            asked = options.all_inner_texts()
            options.last.click()
            expect(page.locator(".story .say")).to_be_visible()
            expect(page.locator(".story .ask")).to_be_visible()  # what was asked is still there
            journey.answered()
            shown = [each.removeprefix("✓ ") for each in options.all_inner_texts()]
            assert shown == asked  # all can still be pointed at
            expect(options.first).to_be_visible()
            look()
        page.wait_for_function(THERE, timeout=90_000)
        page.wait_for_function(APART)
        if at == 1:  # the pointer rests on a button that was clicked
            expect(page.locator(".story .tools")).to_have_css("opacity", "0")
            expect(page.locator(".story :focus-visible")).to_have_count(0)
        if title != TITLES[-1]:
            page.get_by_role("button", name="Next →").click()
    assert wrong == []


def test_the_keys_of_a_talk(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720)
    page = journey.page
    page.goto(f"{journey.address}/?scene=4&present=1&lecture=ffn")
    expect(page.locator(OPEN_QUESTION)).to_be_visible()
    page.keyboard.press("PageUp")  # the question's room is the picture's again
    expect(title_of(page)).to_have_text(TITLES[2])
    page.wait_for_function(THERE)
    page.wait_for_function(FITS)
    assert page.evaluate("document.querySelector('[data-cell=story]').offsetHeight < 300")
    page.mouse.click(640, 600)
    page.keyboard.press("PageUp")
    expect(title_of(page)).to_have_text(TITLES[1])
    frame = "getComputedStyle(document.querySelector('[data-testid=stMain]'), '::before').content"
    assert page.evaluate(frame) == "none"
    page.keyboard.press("Home")
    expect(title_of(page)).to_have_text(TITLES[0])
    journey.settle()
    expect(page.get_by_role("button", name="Copy link")).to_be_hidden()
    page.mouse.move(1200, 30)  # a mouse that is left there covers nothing of the scene's title
    title = box_of(page.locator(".story h2").first)
    assert box_of(page.locator(".story .tools"))["y"] > title["y"] + title["height"]
    expect(page.locator(".story .tools")).to_have_css("opacity", "1")
    expect(page.locator(".story .tools")).to_have_css("opacity", "0")
    expect(page.get_by_role("button", name="Leave")).to_be_hidden()  # “End the talk” is the way out
    page.keyboard.press("b")
    expect(page.locator(".blank")).to_be_visible()
    page.keyboard.press("ArrowRight")  # whatever is pressed, light comes back first
    expect(page.locator(".blank")).to_be_hidden()
    page.keyboard.press("g")
    page.get_by_role("dialog", name="Scenes").get_by_role("button", name=TITLES[5]).press("Enter")
    expect(title_of(page)).to_have_text(TITLES[5])
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
    expect(title_of(page)).to_have_text(TITLES[-1])
    notes.close()
    journey.settle()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()


def test_keys_lead_through_the_course_and_it_fits_a_hall(new_page: OpenPage) -> None:
    scenes = lecture("course").scenes
    journey = new_page(width=1920, height=1080)
    page, wrong = journey.page, []
    page.goto(f"{journey.address}/")
    journey.settle()
    page.get_by_role("button", name="Lecture", exact=True).click()
    journey.press(f"A course, in a textbook's order ({len(scenes)} scenes, 45 minutes)")
    journey.wait_for("She opened")
    assert journey.query()["lecture"] == "course"
    page.reload()
    journey.settle()
    expect(title_of(page)).to_have_text(scenes[0].title)
    page.get_by_role("button", name="Present").click()
    journey.settle()
    page.get_by_role("button", name="Notes").focus()  # as a click there leaves it
    page.mouse.click(600, 700)
    for at, scene in enumerate(scenes):
        key = ("Space", "PageDown")[at // 2 % 2]
        expect(title_of(page)).to_have_text(scene.title)
        if page.locator(OPEN_QUESTION).count():
            if at % 2:  # an answer that was clicked keeps no key
                page.locator(".story .question .options button").first.click()
            else:
                page.keyboard.press(key)
        expect(page.locator(".story .say")).to_be_visible()
        if scene.look:  # some measure before they have it
            page.wait_for_function(LIT, timeout=90_000)
        page.wait_for_function(THERE)
        wrong += complaints(journey, HALLS[:1], OF_A_BLOCK)
        if at % 5 == 4:  # a picture that was clicked keeps none either
            page.locator(".sheet > .rows").click(position={"x": 5, "y": 5}, force=True)
        page.keyboard.press(key)
    assert wrong == []
    expect(page.locator("html[data-presenting]")).to_have_count(1)


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
    assert box_of(page.locator('[data-testid="stMainBlockContainer"]'))["y"] < 40
