"""A trace keeps the stream and computes the rest when asked, to the bit what the pass had."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from ffnviz.models.edit import Edit
from ffnviz.models.encoder.encoder import EncoderTrace
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.trace import BlockStages, StreamTrace, Trace, nbytes_of
from tests.analysis.networks import ours

TEXT = "The cat sat on the [MASK]."
EDITS = [Edit(0, [3, 7], scale=-2.0, tokens=[1]), Edit(1, range(9), value=0.5)]
VARIANTS: dict[str, dict[str, object]] = {
    "pre-LN": {},
    "post-LN, GELU": {"norm": "post", "activation": "gelu"},
    "gated, causal, no biases": {"activation": "swiglu", "causal": True, "bias": False},
}


@pytest.fixture(params=list(VARIANTS.values()), ids=list(VARIANTS))
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return ours(tokenizer, **request.param)


@torch.inference_mode()
def eager(model: Model, edits: list[Edit]) -> EncoderTrace:
    ids = torch.tensor(model.tokenizer.encode(TEXT).ids)
    computed: EncoderTrace = model.encoder(ids, edits)
    return computed


def stages(trace: Trace | EncoderTrace) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of a pass, by its name."""
    for name in ("ids", "embedding", "final", "logits"):
        yield name, getattr(trace, name)
    blocks: Sequence[BlockStages] = trace.blocks
    for number, block in enumerate(blocks):
        for name in ("input", "middle", "output"):
            yield f"{number} {name}", getattr(block, name)
        for part in ("attention", "ffn"):
            for name, value in vars(getattr(block, part)).items():
                if isinstance(value, Tensor):
                    yield f"{number} {part} {name}", value
        yield f"{number} weights", block.attention.weights


@pytest.mark.parametrize("edits", [[], EDITS], ids=["plain", "edited"])
def test_every_stage_is_to_the_bit_that_of_the_pass_at_once(
    model: Model, edits: list[Edit]
) -> None:
    expected = dict(stages(eager(model, edits)))
    found = dict(stages(model.trace(TEXT, edits)))
    assert found.keys() == expected.keys()
    assert [name for name in found if not torch.equal(found[name], expected[name])] == []


@pytest.mark.parametrize("edits", [[], EDITS], ids=["plain", "edited"])
def test_the_ffn_that_is_looked_at_is_kept_from_the_pass(
    model: Model, edits: list[Edit], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = dict(stages(eager(model, edits)))
    trace = model.trace(TEXT, edits, hold=1)
    ffn = type(model.encoder.blocks[0].ffn)
    monkeypatch.setattr(ffn, "forward", None)  # from now on none is computed
    for name, value in vars(trace.blocks[1].ffn).items():
        assert torch.equal(value, expected[f"1 ffn {name}"])
    with pytest.raises(TypeError):
        _ = trace.blocks[0].ffn


def test_one_tokens_logits_are_those_of_all_up_to_rounding(model: Model) -> None:
    trace = model.trace(TEXT)
    for token in (0, 5, -1):
        torch.testing.assert_close(trace.logits_at(token), trace.logits[token])
    assert torch.equal(trace.logits_at(-1), trace.logits_at(len(trace.tokens) - 1))
    with pytest.raises(IndexError):
        trace.logits_at(len(trace.tokens))


def test_the_pass_at_once_tells_one_tokens_logits_too(model: Model) -> None:
    computed = eager(model, [])
    assert torch.equal(computed.logits_at(3), computed.logits[3])


def test_a_batch_runs_like_its_sentences(model: Model) -> None:
    ids = model.trace(TEXT).ids
    batch = model.run(torch.stack([ids, ids.flip(0)]), EDITS)
    for row, one in enumerate([ids, ids.flip(0)]):
        alone = model.run(one, EDITS)
        torch.testing.assert_close(batch.logits[row], alone.logits)
        torch.testing.assert_close(batch.logits_at(2)[row], alone.logits_at(2))
        torch.testing.assert_close(batch.blocks[1].ffn.hidden[row], alone.blocks[1].ffn.hidden)


class Counting(FeedForward):
    """An FFN that counts how often it is asked."""

    calls = 0

    def forward(self, *args: object) -> object:  # type: ignore[override]
        Counting.calls += 1
        return super().forward(*args)  # type: ignore[arg-type]


def counting(tokenizer: Tokenizer) -> Model:
    model = ours(tokenizer, n_blocks=3)
    for block in model.encoder.blocks:
        block.ffn.__class__ = Counting
    Counting.calls = 0
    return model


def test_only_the_block_that_is_looked_at_is_computed_again_and_once(tokenizer: Tokenizer) -> None:
    trace = counting(tokenizer).trace(TEXT)
    assert Counting.calls == 3  # the pass itself
    first = trace.blocks[1].ffn.hidden
    assert trace.blocks[1].ffn.hidden is first
    assert trace.blocks[1].ffn.output is trace.blocks[1].ffn.output
    assert Counting.calls == 4
    trace.forget()
    assert torch.equal(trace.blocks[1].ffn.hidden, first)
    assert Counting.calls == 5


def test_an_edit_stays_what_it_was_when_the_trace_was_made(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    neurons, tokens = [3], [1]
    trace = model.trace(TEXT, [Edit(0, neurons, value=7.0, tokens=tokens)])
    neurons[0] = tokens[0] = 4
    hidden = trace.blocks[0].ffn.hidden
    assert hidden[1, 3] == 7.0
    assert (hidden == 7.0).sum() == 1


def test_a_trace_tells_what_it_holds_and_can_let_go_of_it(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace(TEXT)
    n, d_model, d_ff = len(trace.tokens), 16, 32
    # The ids, embedding and final, and of each block middle and output; its input is the output
    # of the one before it.
    streams = n * 8 + (2 + 2 * 2) * n * d_model * 4
    assert trace.nbytes == streams
    _ = trace.blocks[1].ffn
    stages = n * (2 * d_ff + 2 * d_model) * 4  # input, pre-activation, hidden, output
    assert trace.nbytes == streams + stages
    _ = trace.logits_at(2), trace.logits_at(2)
    row = model.sizes.vocab_size * 4
    assert trace.nbytes == streams + stages + row
    _ = trace.logits, trace.blocks[0].attention
    attention = n * (1 + 3 + 1) * d_model * 4  # input; queries, keys and values in one; output
    assert trace.nbytes == streams + stages + row + n * row + attention
    trace.forget()
    assert trace.nbytes == streams


def test_what_is_shared_is_counted_once() -> None:
    whole = torch.zeros(10, 4)
    assert nbytes_of([whole, whole[2:], whole.T, torch.zeros(3)]) == 160 + 12
    assert nbytes_of([]) == 0


def test_threads_that_ask_and_forget_at_once_get_whole_and_equal_values(
    tokenizer: Tokenizer,
) -> None:
    """But for the last bits: on some processors they depend on where a tensor lies."""

    def equal(one: Tensor, other: Tensor) -> bool:
        return one.shape == other.shape and torch.allclose(one, other, rtol=1e-5, atol=1e-5)

    model = ours(tokenizer)
    trace = model.trace(TEXT)
    expected = dict(stages(trace))
    row = trace.logits_at(2).clone()

    def ask(number: int) -> list[str]:
        if number % 3 == 0:
            trace.forget()
        assert trace.nbytes > 0
        wrong = [name for name, value in stages(trace) if not equal(value, expected[name])]
        return wrong + ([] if equal(trace.logits_at(2), row) else ["row"])

    with ThreadPoolExecutor(8) as pool:
        assert [wrong for wrong in pool.map(ask, range(64)) if wrong] == []


def test_what_is_computed_later_keeps_no_gradient_and_asks_for_none(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    model = replace(model, encoder=model.encoder.requires_grad_(True))
    trace = model.trace(TEXT)
    with torch.enable_grad():
        for name, value in stages(trace):
            assert not value.requires_grad, name


def test_no_trace_can_be_changed(model: Model) -> None:
    trace = model.trace(TEXT)
    for record in (trace, trace.blocks[0]):
        for name in ("input", "ffn", "logits", "final", "blocks"):
            if hasattr(record, name):
                with pytest.raises(AttributeError):
                    setattr(record, name, None)


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_the_twins_traces_are_those_of_the_pass_at_once(twin: str) -> None:
    model = load(twin)
    expected = dict(stages(eager(model, [])))
    trace = model.trace(TEXT)
    assert isinstance(trace, StreamTrace)
    found = dict(stages(trace))
    assert [name for name in found if not torch.equal(found[name], expected[name])] == []
