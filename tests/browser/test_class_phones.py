"""A class of two telephones, upright and on its side, cut off from the network in the middle."""

from playwright.sync_api import Browser, expect

from tests.browser.conftest import _context
from tests.browser.journey import Journey
from tests.browser.network import network_to
from tests.browser.test_class import (
    FIRST,
    TITLES,
    Server,
    Somebody,
    is_at,
    open_class,
    server,
    somebody,
)

__all__ = ["server", "somebody"]  # fixtures
SIZES = ((390, 844), (844, 390))
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


def test_two_phones_join_by_typing_answer_and_come_back_from_a_cut(
    browser: Browser, somebody: Somebody, server: Server
) -> None:
    lecturer = somebody()
    code = open_class(lecturer)
    contexts = []
    with network_to(server.port) as network:
        phones = []
        for width, height in SIZES:
            contexts.append(_context(browser, finger=True))
            page = contexts[-1].new_page()
            page.set_viewport_size({"width": width, "height": height})
            phones.append(Journey(page, f"http://127.0.0.1:{network.port}"))
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
        contexts[0].set_offline(True)
        upright.page.get_by_role("button", name="The same word wins").tap()
        expect(upright.text(WAITS)).to_be_visible()
        contexts[0].set_offline(False)
        expect(upright.text("Your answer is in.")).to_be_visible()

        # The network is gone, and the lecture goes on.
        for context in contexts:
            context.set_offline(True)
        network.cut()
        for phone in phones:
            expect(phone.page.get_by_text(LOST)).to_be_visible()
        lecturer.page.get_by_role("button", name="Show the answer").click()
        lecturer.answered()
        expect(lecturer.page.locator(".story .options button .count").first).to_have_text("2")
        lecturer.page.get_by_role("button", name="Next →").click()
        for phone in phones:
            phone.page.wait_for_timeout(3_000)  # within which Streamlit asked for a terminal
            expect(phone.page.get_by_text("Is Streamlit still running")).to_have_count(0)
            expect(phone.page.get_by_role("dialog", name="Connection error")).to_have_count(0)
            is_at(phone, TITLES[FIRST + 1])
        network.mend()
        for context in contexts:
            context.set_offline(False)
        for phone in phones:
            is_at(phone, TITLES[FIRST + 2])
            expect(phone.page.get_by_text(LOST)).to_be_hidden()
    for context in contexts:
        context.close()
