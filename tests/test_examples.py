"""The example sentences do what is said of them, with the real twins."""

import pytest

from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.app.page_controls import Example, read_examples
from ffnviz.models.encoder.model import TWINS, load

EXAMPLES = read_examples()


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.sentence)
def test_an_example_keeps_its_promise(example: Example, twin: str) -> None:
    model = load(twin)
    trace = model.trace(example.sentence)
    assert example.why
    if example.token is not None:  # it is about a word that stands there twice
        words = [token.text.strip().lower() for token in trace.tokens]
        assert words.count(words[example.token - 1]) == 2
        assert words.index(words[example.token - 1]) < example.token - 1
    mask = model.tokenizer.mask_id
    if mask not in [token.id for token in trace.tokens]:
        return
    token = next(place for place, each in enumerate(trace.tokens) if each.id == mask)
    told = predict(model, trace, token)
    if example.says:
        assert told.words[0] == example.says
        last = len(trace.blocks) - 1
        assert predict_without_ffn(model, trace, last, token).words[0] == example.without
        assert example.says in example.why
        assert example.without in example.why
    if example.not_among:
        assert example.not_among not in told.words


def test_some_examples_are_decided_by_the_ffn() -> None:
    assert sum(bool(example.says) for example in EXAMPLES) >= 3
    assert all(example.says != example.without for example in EXAMPLES if example.says)
