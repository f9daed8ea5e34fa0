"""A class follows its lecturer: three browsers that know nothing of each other."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ROOT, START_S, _context
from tests.browser.journey import Journey
from tests.browser.server_log import ServerLog, server_log
from tests.lecture.lecture_runs import lecture
from tests.served import free_port, wait_for

TITLES = [scene.title for scene in lecture().scenes]
FIRST = TITLES.index("Without this FFN") - 1
SENTENCE = "<b>Rain</b> fell on the old town."


class Server:
    """`ffnviz app` as a lecturer starts it for a class, which may be stopped and started again."""

    def __init__(self, store: Path, log: ServerLog) -> None:
        self.port = free_port()
        self.store, self.log = store, log
        self.address = f"http://localhost:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        where = ["--host", "0.0.0.0", "--port", str(self.port), "--class-store", str(self.store)]
        where += ["--workers", "2"]  # whoever comes may land at either
        self.log.starts()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ffnviz", "app", *where], cwd=ROOT,
            stdout=subprocess.DEVNULL, stderr=self.log.file, start_new_session=True,
        )  # fmt: skip
        wait_for(self.address, self.process, START_S)

    def stop(self) -> None:
        if self.process is not None:
            self.log.stops()
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=30)  # students who wait do not keep it


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server_log() as log:
        server = Server(tmp_path_factory.mktemp("class") / "classes.sqlite", log)
        server.start()
        yield server
        server.stop()


Somebody = Callable[..., Journey]


@pytest.fixture
def somebody(browser: Browser, server: Server) -> Iterator[Somebody]:
    """Makes people, each with a browser of their own."""
    contexts = []

    def come(width: int = 1280, height: int = 720) -> Journey:
        contexts.append(_context(browser))
        page = contexts[-1].new_page()
        page.set_viewport_size({"width": width, "height": height})
        return Journey(page, server.address)

    yield come
    for context in contexts:
        with closing(context):
            pass


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
    box = picture.bounding_box()
    assert box is not None
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
    assert lecturer.page.context.cookies() == [] or not [
        cookie for cookie in anna.page.context.cookies() if "ffnviz" in str(cookie).lower()
    ]

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
    with lecturer.page.expect_download() as saved:
        sent.get_by_role("button", name="Save or enlarge").click()
        sent.get_by_role("button", name="Save the numbers as CSV").click()
    assert SENTENCE in saved.value.path().read_text(encoding="utf-8")
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
    end = time.monotonic() + 90  # the store is emptied when nobody reads it any more
    while SENTENCE.encode() in server.store.read_bytes() and time.monotonic() < end:
        time.sleep(1)
    assert SENTENCE.encode() not in server.store.read_bytes()


def test_nobody_guesses_a_class_or_its_lecturers_right(somebody: Somebody) -> None:
    lecturer, other = somebody(), somebody()
    code = open_class(lecturer)
    page = other.page
    page.goto(f"{other.address}/?class=222222")
    expect(page.get_by_text("There is no class with this code, or it is over.")).to_be_visible()
    kept = f'{{"code": "{code}", "secret": "a-secret-of-my-own"}}'
    page.evaluate("(kept) => localStorage.setItem('ffnviz-class', kept)", kept)
    page.goto(f"{other.address}/?text=It+rained.")
    other.wait_for("It rained.").settle()
    expect(page.get_by_text("Your class")).to_be_hidden()
    expect(page.get_by_role("button", name="End the class")).to_be_hidden()


def test_who_has_no_class_sees_nothing_of_one(somebody: Somebody) -> None:
    alone = somebody()
    alone.page.goto(f"{alone.address}/?text=It+rained.")
    alone.wait_for("It rained.").settle()
    expect(alone.page.locator(".classroom")).to_have_count(1)
    expect(alone.page.locator(".classroom")).to_be_hidden()
    expect(alone.text("You follow the lecturer")).to_be_hidden()


def test_the_lecturer_closes_the_door_and_removes_everybody(somebody: Somebody) -> None:
    lecturer, anna, late = somebody(), somebody(390, 844), somebody()
    code = open_class(lecturer)
    following = "You follow the lecturer"
    anna.page.goto(f"{anna.address}/class/{code}")
    expect(anna.text(following)).to_be_visible()
    expect(lecturer.text("1 follows")).to_be_visible()
    lecturer.page.get_by_role("button", name="Close the door").click()
    expect(lecturer.text("the door is closed")).to_be_visible()
    late.page.goto(f"{late.address}/class/{code}")
    expect(late.text("The lecturer has closed the door of this class.")).to_be_visible()
    expect(late.page.get_by_role("textbox", name="Your sentence")).to_be_hidden()
    anna.page.reload()  # who was there is let in
    expect(anna.text(following)).to_be_visible()
    lecturer.page.get_by_role("button", name="Open the door").click()
    expect(late.text(following)).to_be_visible()
    expect(lecturer.text("2 follow")).to_be_visible()
    remove = lecturer.page.get_by_role("button", name="Remove everybody")
    remove.click()
    lecturer.page.get_by_role("button", name="Remove all, with their answers?").click()
    expect(lecturer.text("0 follow")).to_be_visible()
    expect(lecturer.text("2 follow")).to_be_visible()  # they come back by themselves
    late.page.close()
    expect(lecturer.text("1 follows")).to_be_visible(timeout=10_000)
