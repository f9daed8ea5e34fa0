"""A long visit to the Journey keeps no more than a short one."""

from tests.browser.conftest import OpenPage
from tests.browser.watched import Watched

SENTENCES = ("The cat sat on the mat.", "A dog [MASK] here and there.", "It cost forty pounds.")


def test_30_sentences_leave_nothing_behind(new_page: OpenPage) -> None:
    journey = new_page()
    watched = Watched(journey.page)
    journey.open(text="It begins.")

    def type_sentences(rounds: int) -> None:
        for _ in range(rounds):
            for sentence in SENTENCES:
                journey.box.fill(sentence)
                journey.box.press("Enter")
                journey.wait_for(sentence)

    type_sentences(2)
    before = watched.count()
    type_sentences(10)
    growth = {name: value - before[name] for name, value in watched.count().items()}
    assert growth["observers"] <= 0, growth
    assert growth["listeners"] <= 2, growth  # Streamlit's own come and go
    assert growth["nodes"] <= 200, growth
    assert growth["heap"] < 2_000_000, growth


MESSAGES = 12  # of them seven are Streamlit's own, about the session, the script and its pages


def test_a_typed_sentence_takes_few_messages_and_a_click_sends_what_it_changed(
    new_page: OpenPage,
) -> None:
    journey, received = new_page(), list[int]()
    journey.page.on(
        "websocket",
        lambda wire: wire.on("framereceived", lambda frame: received.append(len(frame))),
    )
    journey.open(text="The cat sat on the mat.").settle()
    received.clear()
    journey.box.fill("The dog sat on the mat.")
    journey.box.press("Enter")
    journey.wait_for("The dog sat on the mat.").settle()
    assert len(received) <= MESSAGES
    typed = sum(received)
    received.clear()
    journey.page.get_by_role("button", name="by index").click()
    journey.settle()
    assert len(received) <= MESSAGES
    assert sum(received) < typed / 4, "the values of the neurons are there"
