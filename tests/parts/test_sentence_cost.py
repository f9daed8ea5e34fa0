"""A typed sentence, and a click on a token, compute and send no more than they have to."""

from ffnviz.state.run_factory import CACHE
from tests.parts.sentence_cost import LIMITS, sentence_cost


def test_nothing_is_computed_or_sent_beyond_its_limit() -> None:
    CACHE.clear()
    found = sentence_cost()
    assert found.keys() == LIMITS.keys()
    assert {name: n for name, n in found.items() if n > LIMITS[name]} == {}
    assert found["products, sentence"] >= 16
    assert found["products, token"] > 0
