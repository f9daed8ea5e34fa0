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
