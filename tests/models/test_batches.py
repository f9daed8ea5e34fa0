"""Many texts at once: each as it is alone, in order, streamed, in bounded memory."""

from collections.abc import Iterator

import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models import batches
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import ours

TEXTS = ["The cat sat on the [MASK].", "The", "She had opened the door and looked out at it.",
         "Where is the cat?", "So they sat there, the man and the girl and the cat."]  # fmt: skip
SHAPES: dict[str, dict[str, object]] = {
    "pre": {}, "post": {"norm": "post"}, "causal": {"causal": True},
    "gated": {"activation": "geglu"},
}  # fmt: skip


@pytest.fixture(params=SHAPES)
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return ours(tokenizer, **SHAPES[request.param])


@pytest.mark.parametrize("batch", [1, 2, 64])
@pytest.mark.parametrize(
    "edits",
    [(), (Edit(0, [3], scale=0.0), Edit(1, add=torch.ones(16), tokens=[0], at="input"))],
    ids=["plain", "edited"],
)
def test_each_is_what_it_is_alone(model: Model, batch: int, edits: tuple[Edit, ...]) -> None:
    made = list(model.traces(TEXTS, edits, batch=batch))
    for text, trace in zip(TEXTS, made, strict=True):
        alone = model.trace(text, edits)
        assert (trace.text, trace.tokens, trace.edits) == (text, alone.tokens, edits)
        assert torch.equal(trace.ids, alone.ids)
        assert_allclose(trace.final, alone.final, atol=2e-5)
        assert_allclose(trace.logits, alone.logits, atol=2e-5)
        for one, other in zip(trace.blocks, alone.blocks, strict=True):
            assert_allclose(one.ffn.hidden, other.ffn.hidden, atol=2e-5)
            assert_allclose(one.ffn.output, other.ffn.output, atol=2e-5)
            assert_allclose(one.attention.weights, other.attention.weights, atol=1e-5)
            assert_allclose(one.attention.output, other.attention.output, atol=2e-5)


def test_texts_are_asked_for_as_the_loop_goes_on(model: Model) -> None:
    asked: list[int] = []

    def texts() -> Iterator[str]:
        for number in range(100):
            asked.append(number)
            yield "The cat sat on the mat"

    made = model.traces(texts(), batch=4)
    assert not asked
    next(made)
    assert len(asked) <= 5
    assert sum(1 for _ in made) == 99


def test_long_texts_are_read_fewer_at_a_time(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_HIDDEN", 32 * 30)
    shapes: list[tuple[int, ...]] = []
    embed = model.encoder.embed

    def counted(ids: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(ids.shape))
        return embed(ids)

    monkeypatch.setattr(model.encoder, "embed", counted)
    assert len(list(model.traces([*TEXTS, *["the " * 60] * 2]))) == 7
    assert all(rows * tokens <= 30 or rows == 1 for rows, tokens in shapes)


def test_what_is_wrong_is_said_with_the_text_it_is_in(model: Model) -> None:
    with pytest.raises(TypeError, match="give texts in a list"):
        model.traces("one text")
    with pytest.raises(ValueError, match="batch = 0"):
        model.traces(TEXTS, batch=0)
    with pytest.raises(ValueError, match="Text 1 is empty"):
        list(model.traces(["a", ""]))
    with pytest.raises(ValueError, match="Text 1: There is no token 4"):
        list(model.traces(TEXTS, [Edit(0, [1], scale=0.0, tokens=[4])]))
    with pytest.raises(ValueError, match="the same in each text"):
        model.traces(TEXTS, [Edit(0, [1], value=torch.ones(5, 1, 1))])
