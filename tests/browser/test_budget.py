"""What the Journey brings over the wire stays within its limits; a long visit keeps no more."""

from playwright.sync_api import Browser

from tests.browser.budget import LIMITS, counts
from tests.browser.conftest import OpenPage
from tests.browser.watched import Watched

SENTENCES = ("The cat sat on the mat.", "A dog [MASK] here and there.", "It cost forty pounds.")
MESSAGES = 12  # of them seven are Streamlit's own, about the session, the script and its pages


def test_nothing_brings_more_than_its_limit(browser: Browser, address: str) -> None:
    found = counts(browser, address)
    over = {name: found[name] for name, limit in LIMITS.items() if found[name] > limit}
    assert over == {}
    assert found["messages, sentence"] > 0
    assert found["messages, token"] > 0


def test_a_sentence_takes_few_messages_and_a_click_little(new_page: OpenPage) -> None:
    journey, received = new_page(), list[int]()
    journey.page.on(
        "websocket",
        lambda wire: wire.on("framereceived", lambda frame: received.append(len(frame))),
    )
    journey.open(text=SENTENCES[0]).settle()
    received.clear()
    journey.write("The dog sat on the mat.").settle()
    assert len(received) <= MESSAGES
    typed = sum(received)
    received.clear()
    journey.press("by index")
    assert len(received) <= MESSAGES
    assert sum(received) < typed / 4, "the values of the neurons are there"


def test_9_sentences_leave_nothing_behind(new_page: OpenPage) -> None:
    journey = new_page()
    watched = Watched(journey.page)
    journey.open(text="It begins.")

    def type_sentences(rounds: int) -> None:
        for _ in range(rounds):
            for sentence in SENTENCES:
                journey.write(sentence)

    type_sentences(2)
    before = watched.count()
    type_sentences(3)
    growth = {name: value - before[name] for name, value in watched.count().items()}
    assert growth["observers"] <= 0, growth
    assert growth["listeners"] <= 2, growth  # Streamlit's own come and go
    assert growth["nodes"] <= 100, growth
    assert growth["heap"] < 1_000_000, growth
