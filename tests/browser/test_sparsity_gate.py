"""The Sparsity page: a gate that opens at random, drawn as often as one likes."""

from ffnviz.analysis.sparsity.gate import gated_token
from ffnviz.figures.wording import percent
from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage

SENTENCE = "She opened the [MASK] and looked out."


def test_the_gates_are_drawn_again_and_more_often(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("sparsity", part="gate", text=SENTENCE, twin="relu")
    trace = twins["gelu"].trace(SENTENCE)
    for seed in (0, 1):
        found = gated_token(twins["gelu"], trace, 1, 3, seed)
        for part in (percent(found.errors[0]), f"4 draws, by {percent(found.errors[2])}."):
            assert part in journey.sentence("gate-errors")
        if seed == 0:
            journey.press("Draw again")
    before = journey.sentence("gate")
    journey.slide("draws that the mean", 10)
    assert f"1,024 draws, by {percent(found.errors[10])}." in journey.sentence("gate-errors")
    assert journey.sentence("gate") != before
    query = journey.query()
    assert (query["gate_draws"], query["gate_seed"]) == ("1024", "1")
    assert "GELU says door, the mean of 1,024 draws door" in journey.sentence("gate-words")
    again = new_page().open_page("sparsity", **query)
    assert again.sentence("gate") == journey.sentence("gate")
