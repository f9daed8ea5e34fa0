"""A class follows its lecturer, votes and bets: browsers that know nothing of each other."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.browser.conftest import ROOT, emptied, new_context, serving
from tests.browser.journey import Journey, box_of, download
from tests.browser.wire import wired
from tests.lecture.lecture_runs import lecture
from tests.served import free_port

TITLES = [scene.title for scene in lecture().scenes]
FIRST = TITLES.index("Without this FFN") - 1
SENTENCE = "<b>Rain</b> fell on the old town."
FOLLOWING = "You follow the lecturer"
PHONES = ((390, 844), (844, 390))
LOST = "No connection. The page comes back by itself."
WAITS = "No connection. It is sent as soon as there is one."
# The share of the screen's height in which the lit picture is seen.
LIT_SHARE = """() => {
    const lit = [...document.querySelectorAll("[data-lit]")].map((e) => e.getBoundingClientRect());
    const tops = [...document.querySelectorAll("[data-cell=story], [data-testid=stHeader]")]
        .map((each) => each.getBoundingClientRect().bottom);
    const seen = (box) => Math.min(box.bottom, innerHeight) - Math.max(box.top, 0, ...tops);
    return Math.max(0, ...lit.map(seen)) / innerHeight;
}"""


class Server:
    """`ffnviz app` as a lecturer starts it for a class, which may be stopped and started again."""

    def __init__(self, store: Path) -> None:
        self.port = free_port()
        self.address = f"http://localhost:{self.port}"
        # Of two workers, whoever comes may land at either.
        self._options = ["--host=0.0.0.0", f"--class-store={store}", "--workers=2"]
        self._running = ExitStack()

    def start(self) -> None:
        ours = [sys.executable, "-m", "ffnviz"]
        self._running.enter_context(serving(ours, ROOT, options=self._options, port=self.port))

    def stop(self) -> None:
        self._running.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("class") / "classes.sqlite")
    server.start()
    yield server
    server.stop()


Somebody = Callable[..., Journey]


@pytest.fixture(scope="module")
def idle() -> list[Page]:
    """Pages of people who have gone, each in a browser that has fetched ours before."""
    return []


@pytest.fixture
def somebody(browser: Browser, server: Server, idle: list[Page]) -> Iterator[Somebody]:
    """Makes people, each with a browser of their own."""
    here: list[Page] = []

    def come(width: int = 1280, height: int = 720) -> Journey:
        here.append(idle.pop() if idle else new_context(browser).new_page())
        here[-1].set_viewport_size({"width": width, "height": height})
        return Journey(here[-1], server.address)

    yield come
    for page in here:
        if page.is_closed():
            page.context.close()
        else:
            emptied(page)
            idle.append(page)


def is_at(journey: Journey, title: str) -> None:
    expect(journey.page.locator(".story h2").first).to_have_text(title)


def open_class(lecturer: Journey) -> str:
    """The code of a class that this page opens at the scene before one that asks."""
    page = lecturer.page
    page.goto(f"{lecturer.address}/?scene={FIRST + 1}")
    lecturer.wait_for("A fly has")
    page.get_by_role("button", name="Lecture", exact=True).click()
    page.get_by_role("button", name="Open a class").click()
    picture = page.get_by_role("img", name="QR code of http")  # nobody has to look for it
    expect(picture).to_be_visible()
    box = box_of(picture)
    assert min(box["width"], box["height"]) > 0.9 * 720
    link = page.locator(".board .link").inner_text()
    page.keyboard.press("Escape")
    assert "localhost" not in link
    return link.rpartition("/")[2]


def test_a_class_follows_answers_sends_sentences_and_is_gone(
    somebody: Somebody, server: Server
) -> None:
    lecturer, anna, ben = somebody(), somebody(390, 844), somebody()
    code = open_class(lecturer)
    anna.page.goto(f"{anna.address}/class/{code}")
    ben.page.goto(f"{ben.address}/sparsity?class={code.lower()}")
    for student in (anna, ben):
        is_at(student, TITLES[FIRST])  # wherever they came from, and whatever its page
    expect(lecturer.text("2 follow")).to_be_visible()
    assert "ffnviz" not in str(anna.page.context.cookies()).lower()

    # One explores alone, and comes back with one tap.
    ben.page.get_by_role("button", name="Explore alone").click()
    lecturer.page.get_by_role("button", name="Next →").click()
    is_at(anna, TITLES[FIRST + 1])
    expect(ben.text("You explore alone")).to_be_visible()
    assert ben.page.locator(".story h2").first.inner_text() == TITLES[FIRST]
    ben.page.get_by_role("button", name="Back to the class").click()
    is_at(ben, TITLES[FIRST + 1])

    # Answers are counted before all, and shown when the lecturer shows them.
    anna.settle()
    anna.page.get_by_role("button", name="Another word wins").click()
    ben.settle()
    ben.page.get_by_role("button", name="The same word wins").click()
    expect(lecturer.text("2 answers.")).to_be_visible()
    counts = lecturer.page.locator(".story .options .count")
    assert "".join(counts.all_inner_texts()) == ""  # nobody votes with the many
    assert lecturer.page.locator(".story .options i:visible").count() == 0
    with lecturer.page.context.expect_page() as opened:
        lecturer.page.evaluate("document.activeElement.blur()")
        lecturer.page.get_by_role("button", name="Present", exact=True).click()
        expect(lecturer.page.locator("html[data-presenting]")).to_have_count(1)
        lecturer.settle()
        lecturer.page.keyboard.press("n")
    expect(opened.value.locator("#counts")).to_contain_text(
        "The same word wins: 1 · Another word wins: 1"
    )
    opened.value.close()
    lecturer.page.keyboard.press("Escape")
    expect(lecturer.page.locator("html[data-presenting]")).to_have_count(0)
    lecturer.settle()
    lecturer.page.get_by_role("button", name="Show the counts now").click()
    expect(counts).to_have_text(["1", "1", "0"])
    lecturer.page.get_by_role("button", name="Hide the counts").click()
    assert "".join(counts.all_inner_texts()) == ""
    expect(anna.text("Your answer is in.")).to_be_visible()
    expect(anna.page.locator(".story .say")).to_be_hidden()
    lecturer.settle()
    lecturer.page.get_by_role("button", name="Show the answer").click()
    expect(anna.text("2 answers. Right.")).to_be_visible()
    expect(ben.text("2 answers. Not quite.")).to_be_visible()
    expect(anna.page.locator(".story .say")).to_be_visible()

    # Each sends a sentence; the lecturer sees them all, hides one, opens one.
    for student, text in ((anna, "It cost forty ___."), (ben, SENTENCE)):
        student.page.get_by_label("Your sentence for the class").fill(text)
        student.page.get_by_role("button", name="Send").click()
        expect(student.text("Sent; sending again replaces it.")).to_be_visible()
    expect(lecturer.text("2 sentences")).to_be_visible()
    lecturer.page.get_by_role("button", name="Class brain").click()
    expect(lecturer.text("2 sentences have come.")).to_be_visible()  # the wall shows none
    with lecturer.page.context.expect_page() as opened:
        lecturer.page.get_by_role("button", name="Read the sentences (2 new)").click()
    for text in (SENTENCE, "It cost forty [MASK]."):
        opened.value.get_by_role("button", name=f"Show on the wall: {text}").click()
    sent = lecturer.page.locator(".sentences")
    expect(sent.locator(".sentence")).to_contain_text("2 sentences: ")
    guessed = sent.get_by_role("listitem").filter(has_text="It cost forty").locator(".guesses b")
    expect(guessed).to_have_count(2)  # of each network
    expect(sent.get_by_text("there is nothing to guess")).to_be_visible()
    shared = lecturer.page.locator("figure").filter(
        has=lecturer.page.locator("#note-class-neurons")
    )
    expect(shared.locator(".sentence")).to_contain_text("What they share: neuron")
    sent.get_by_role("button", name="Save or enlarge").click()
    saved = download(sent.get_by_role("button", name="Save the numbers as CSV"))
    assert SENTENCE in saved.path().read_text(encoding="utf-8")
    sent.get_by_role("button", name="Hide: It cost forty").click()
    expect(sent.locator(".sentence")).to_contain_text("1 sentence: ")
    expect(sent.get_by_text("It cost forty")).to_have_count(0)  # hidden is gone
    opened.value.close()
    lecturer.answered()
    sent.get_by_role("button", name=SENTENCE, exact=True).click()
    lecturer.wait_for(SENTENCE)
    assert lecturer.page.locator("b", has_text="Rain").count() == 0

    # The class outlives a reload of the lecturer's page, and a restart of the server; so does the
    # lecture that somebody has begun to collect.
    menu = ben.page.get_by_role("button", name="Lecture", exact=True)
    menu.click()
    ben.page.get_by_role("button", name="Add this view to my lecture").click()
    ben.answered()
    lecturer.page.reload()
    expect(lecturer.text("Your class: 2 follow")).to_be_visible()
    server.stop()
    server.start()
    lecturer.page.reload()
    expect(lecturer.text("Your class: 2 follow")).to_be_visible()
    lecturer.page.get_by_role("button", name="Back to the scene").click()
    lecturer.settle()
    lecturer.page.get_by_role("button", name="Next →").click()
    for student in (anna, ben):
        is_at(student, TITLES[FIRST + 2])
    menu.click()
    expect(ben.page.get_by_role("button", name="My lecture (1 view)")).to_be_visible()
    ben.page.keyboard.press("Escape")

    # And then it is over.
    lecturer.settle()
    lecturer.page.get_by_role("button", name="End the class").click()
    lecturer.page.get_by_role("button", name="End it for all?").click()
    for student in (anna, ben):
        expect(student.text("The class is over.").first).to_be_visible()
    lecturer.settle()
    assert lecturer.page.evaluate("localStorage.getItem('ffnviz-class')") is None


def test_who_has_no_class_sees_none_and_guesses_none(somebody: Somebody) -> None:
    lecturer, other = somebody(), somebody()
    code = open_class(lecturer)
    page = other.page
    page.goto(f"{other.address}/?text=It+rained.")
    other.wait_for("It rained.").settle()
    expect(page.locator(".classroom")).to_have_count(1)
    expect(page.locator(".classroom")).to_be_hidden()
    expect(other.text(FOLLOWING)).to_be_hidden()
    page.goto(f"{other.address}/?class=222222")
    expect(page.get_by_text("There is no class with this code, or it is over.")).to_be_visible()
    kept = f'{{"code": "{code}", "secret": "a-secret-of-my-own"}}'
    page.evaluate("(kept) => localStorage.setItem('ffnviz-class', kept)", kept)
    page.goto(f"{other.address}/?text=It+rained.")
    other.wait_for("It rained.").settle()
    expect(page.get_by_text("Your class")).to_be_hidden()
    expect(page.get_by_role("button", name="End the class")).to_be_hidden()


def test_the_lecturer_closes_the_door_and_removes_everybody(somebody: Somebody) -> None:
    lecturer, anna, late = somebody(), somebody(390, 844), somebody()
    code = open_class(lecturer)
    anna.page.goto(f"{anna.address}/class/{code}")
    expect(anna.text(FOLLOWING)).to_be_visible()
    expect(lecturer.text("1 follows")).to_be_visible()
    lecturer.page.get_by_role("button", name="Close the door").click()
    expect(lecturer.text("the door is closed")).to_be_visible()
    late.page.goto(f"{late.address}/class/{code}")
    expect(late.text("The lecturer has closed the door of this class.")).to_be_visible()
    expect(late.page.get_by_role("textbox", name="Your sentence")).to_be_hidden()
    anna.page.reload()  # who was there is let in
    expect(anna.text(FOLLOWING)).to_be_visible()
    lecturer.page.get_by_role("button", name="Open the door").click()
    expect(late.text(FOLLOWING)).to_be_visible()
    expect(lecturer.text("2 follow")).to_be_visible()
    remove = lecturer.page.get_by_role("button", name="Remove everybody")
    remove.click()
    lecturer.page.get_by_role("button", name="Remove all, with their answers?").click()
    expect(lecturer.text("0 follow")).to_be_visible()
    expect(lecturer.text("2 follow")).to_be_visible()  # they come back by themselves
    late.page.close()
    expect(lecturer.text("1 follows")).to_be_visible(timeout=10_000)


def led_to(page: str, part: str, somebody: Somebody) -> tuple[Journey, Journey, Journey]:
    """A lecturer on a part of a page, with two students who follow, the first on a phone."""
    lecturer, anna, ben = somebody(), somebody(390, 844), somebody()
    code = open_class(lecturer)
    for student in (anna, ben):
        student.page.goto(f"{student.address}/class/{code}")
    expect(lecturer.text("2 follow")).to_be_visible()
    lecturer.page.get_by_role("link", name=page).click()
    lecturer.page.get_by_role("radio", name=part).click()
    return lecturer, anna, ben


def test_a_class_votes_twice_and_sees_its_gain(somebody: Somebody) -> None:
    lecturer, anna, ben = led_to("Exercises", "Predict, see, vote", somebody)
    pages = [each.page for each in (lecturer, anna, ben)]
    options = [page.locator('[data-cell="vote"] .options button') for page in pages]
    for each in options:
        expect(each).to_have_count(3)
    says = [page.locator('[data-cell="vote"] .status') for page in pages]

    options[1].nth(1).click()
    options[2].nth(0).click()
    expect(says[0]).to_have_text("2 votes.")
    expect(says[1]).to_contain_text("Your vote is in")
    expect(options[1].first.locator("small")).to_have_text("")
    lecturer.page.get_by_role("button", name="See the experiment").click()
    for page in pages:
        expect(page.get_by_text("The experiment", exact=True)).to_be_visible()
    for each in options[1:]:
        each.nth(0).click()
    expect(says[0]).to_have_text("2 votes.")
    lecturer.page.get_by_role("button", name="Show the answer").click()
    for each in options:
        expect(each.nth(0).locator("small")).to_have_text("1 → 2")
    expect(says[1]).to_have_text("Right this time. What changed your mind?")
    expect(says[2]).to_have_text("Right, both times.")
    lecturer.page.locator("summary", has_text="Before, after").click()
    total = lecturer.page.locator(".gains .total")
    expect(total).to_contain_text("50% right before, 100% after; gain 1.00")

    # A lecturer whose page is loaded again has what was voted on before.
    lecturer.page.get_by_role("button", name="Next question").click()
    expect(lecturer.page.locator('[data-cell="vote"] .sentence')).to_contain_text("Question 2 of")
    lecturer.page.reload()
    expect(lecturer.text("2 follow")).to_be_visible()
    for name in ("See the experiment", "Show the answer"):
        for page in (anna.page, ben.page):
            expect(page.locator('[data-cell="vote"] .sentence')).to_contain_text("Question 2 of")
            page.locator('[data-cell="vote"] .options button').first.click()
        expect(says[0]).to_have_text("2 votes.")
        lecturer.page.get_by_role("button", name=name).click()
        for page in (anna.page, ben.page):
            expect(page.get_by_text("The experiment", exact=True)).to_be_visible()
    lecturer.page.locator("summary", has_text="Before, after").click()
    expect(total).to_contain_text("2 questions: ")


SLOW_FIRST = """() => {
    const send = fetch;
    window.fetch = async (...asked) => {
        const isFirst = asked[1]?.body?.includes('"option":0');
        if (isFirst) await new Promise((done) => setTimeout(done, 500));
        return send(...asked);
    };
}"""


def test_a_class_bets_before_two_networks_are_trained(somebody: Somebody) -> None:
    lecturer, anna, ben = led_to("Learn", "a bet on two", somebody)
    pages = [each.page for each in (lecturer, anna, ben)]
    options = [page.locator('[data-cell="bet-placed"] .options button') for page in pages]
    says = [page.locator('[data-cell="bet-placed"] .status') for page in pages]
    for each in options:
        expect(each).to_have_count(3)
    options[1].nth(0).click()
    ben.page.evaluate(SLOW_FIRST)
    votes: list[Response] = []

    def both_are_answered(answer: Response) -> bool:
        votes.extend([answer] * answer.url.endswith("/vote"))
        return len(votes) == 2

    with ben.page.expect_response(both_are_answered):
        for option in (0, 2):  # changed at once: the first bet must not come last
            options[2].nth(option).evaluate("(button) => button.click()")
    expect(says[2]).to_contain_text("Your bet is in")
    expect(says[0]).to_have_text("2 bets of the class.")
    expect(options[0].nth(0).locator("small")).to_have_text("")  # or all would bet with the most
    train = lecturer.page.get_by_role("button", name="Train both")
    expect(train).to_be_disabled()
    options[0].nth(1).click()
    train.click()
    for each in options:
        expect(each.locator("small")).to_have_text(["1", "0", "1"])
        expect(each.nth(0)).to_be_disabled()
    lecturer.page.get_by_role("button", name="Cancel").click()


def test_two_phones_join_by_typing_answer_and_come_back_from_a_cut(
    somebody: Somebody, server: Server, browser: Browser
) -> None:
    lecturer = somebody()
    code = open_class(lecturer)
    with wired(server.port) as wire, ExitStack() as contexts:
        phones = []
        for width, height in PHONES:
            context = contexts.enter_context(closing(new_context(browser, finger=True)))
            phones.append(Journey(context.new_page(), f"http://127.0.0.1:{wire.port}"))
            phones[-1].page.set_viewport_size({"width": width, "height": height})
        upright, lying = phones
        # One types the code at /class, wrong at first; the other in the menu.
        box = "Code of the class"
        upright.page.goto(f"{upright.address}/class")
        for typed in ("zzz-zzz", code.lower()):
            upright.page.get_by_role("textbox", name=box).fill(typed)
            upright.page.get_by_role("button", name="Join").click()
            if typed != code.lower():
                expect(upright.text("There is no class with this code")).to_be_visible()
        lying.page.goto(f"{lying.address}/?text=It+rained.")
        lying.wait_for("It rained.")
        lying.page.get_by_role("button", name="Lecture", exact=True).click()
        lying.page.get_by_role("button", name="Join a class").click()
        lying.page.get_by_role("textbox", name=box).fill(f"{code[:3]} {code[3:]}")
        lying.page.get_by_role("button", name="Join", exact=True).click()
        for phone in phones:
            is_at(phone, TITLES[FIRST])
            phone.page.wait_for_function(f"({LIT_SHARE})() > 0.4")

        # A question, and an answer from each; none has the sentence's box above it.
        lecturer.page.get_by_role("button", name="Next →").click()
        for phone, option in zip(phones, ("Another word wins", "The same word wins"), strict=True):
            is_at(phone, TITLES[FIRST + 1])
            expect(phone.page.locator(".story .ask")).to_be_in_viewport()
            expect(phone.box).to_be_hidden()
            expect(phone.page.get_by_role("button", name="Send")).to_be_hidden()
            phone.page.get_by_role("button", name=option).tap()
            expect(phone.text("Your answer is in.")).to_be_visible()
        expect(lecturer.text("2 answers.")).to_be_visible()

        # An answer that is changed without a network is sent once there is one, and counts.
        upright.page.context.set_offline(True)
        upright.page.get_by_role("button", name="The same word wins").tap()
        expect(upright.text(WAITS)).to_be_visible()
        upright.page.context.set_offline(False)
        expect(upright.text("Your answer is in.")).to_be_visible()

        # The network is gone, and the lecture goes on.
        asks_by = time.monotonic() + 3  # when Streamlit asked for a terminal
        wire.cut()
        for phone in phones:
            phone.page.context.set_offline(True)
        for phone in phones:
            expect(phone.page.get_by_text(LOST)).to_be_visible()
        lecturer.page.get_by_role("button", name="Show the answer").click()
        lecturer.answered()
        expect(lecturer.page.locator(".story .options button .count").first).to_have_text("2")
        lecturer.page.get_by_role("button", name="Next →").click()
        upright.page.wait_for_timeout(max(0, 1_000 * (asks_by - time.monotonic())))
        for phone in phones:
            expect(phone.page.get_by_text("Is Streamlit still running")).to_have_count(0)
            expect(phone.page.get_by_role("dialog", name="Connection error")).to_have_count(0)
            is_at(phone, TITLES[FIRST + 1])
        wire.mend()
        for phone in phones:
            phone.page.context.set_offline(False)
        for phone in phones:
            is_at(phone, TITLES[FIRST + 2])
            expect(phone.page.get_by_text(LOST)).to_be_hidden()
