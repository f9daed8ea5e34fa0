"""A trace keeps the stream and computes the rest when asked, to the bit what the pass had.

So does each of many texts that are read at once, and part of a trace.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.models import batches
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.encoder import EncoderTrace
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Token, Tokenizer
from ffnviz.models.token_slice import token_slice, words_among
from ffnviz.models.trace import BlockStages, Trace, nbytes_of
from ffnviz.state.run import aligned_tokens
from tests.analysis.networks import ours

TEXT = "The cat sat on the [MASK]."
TEXTS = [TEXT, "The", "She had opened the door and looked out at it.", "Where is the cat?"]
EDITS = [Edit(0, [3, 7], scale=-2.0, tokens=[0]), Edit(1, range(9), value=0.5)]
VARIANTS: dict[str, dict[str, object]] = {
    "pre-LN": {},
    "post-LN, GELU": {"norm": "post", "activation": "gelu"},
    "gated, causal, no biases": {"activation": "swiglu", "causal": True, "bias": False},
}
PLAIN_AND_EDITED = pytest.mark.parametrize("edits", [[], EDITS], ids=["plain", "edited"])


@pytest.fixture(params=list(VARIANTS.values()), ids=list(VARIANTS), scope="module")
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


def check_equal(trace: Trace, expected: EncoderTrace) -> None:
    found, wanted = dict(stages(trace)), dict(stages(expected))
    assert found.keys() == wanted.keys()
    assert [name for name in found if not torch.equal(found[name], wanted[name])] == []


@PLAIN_AND_EDITED
def test_every_stage_is_to_the_bit_that_of_the_pass_at_once(
    model: Model, edits: list[Edit], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, held = eager(model, edits), model.trace(TEXT, edits, hold=1)
    trace = model.trace(TEXT, edits)
    check_equal(trace, expected)
    assert torch.equal(expected.logits_at(3), expected.logits[3])
    for token in (0, 5, -1):
        assert_allclose(trace.logits_at(token), trace.logits[token], rtol=1e-5, atol=1e-5)
    assert torch.equal(trace.logits_at(-1), trace.logits_at(len(trace.tokens) - 1))
    with pytest.raises(IndexError):
        trace.logits_at(len(trace.tokens))
    monkeypatch.setattr(type(model.encoder.blocks[0].ffn), "forward", None)  # none is computed
    for name, value in vars(held.blocks[1].ffn).items():
        assert torch.equal(value, getattr(expected.blocks[1].ffn, name))
    with pytest.raises(TypeError):
        _ = held.blocks[0].ffn


def test_only_the_block_that_is_looked_at_is_computed_again_and_once(tokenizer: Tokenizer) -> None:
    model, ran = ours(tokenizer, n_blocks=3), list[int]()
    for number, block in enumerate(model.encoder.blocks):
        block.ffn.expand.register_forward_hook(lambda *_, number=number: ran.append(number))
    trace = model.trace(TEXT)
    first = trace.blocks[1].ffn.hidden
    assert trace.blocks[1].ffn.hidden is first
    assert trace.blocks[1].ffn.output is trace.blocks[1].ffn.output
    assert ran == [0, 1, 2, 1]  # the pass itself, and the block
    trace.forget()
    assert torch.equal(trace.blocks[1].ffn.hidden, first)
    assert ran == [0, 1, 2, 1, 1]
    # What is computed later is edited as it was asked for when the trace was made.
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
    whole = torch.zeros(10, 4)
    assert nbytes_of([whole, whole[2:], whole.T, torch.zeros(3)]) == 160 + 12, "counted once"
    assert nbytes_of([]) == 0


def test_threads_that_ask_and_forget_at_once_get_equal_values(tokenizer: Tokenizer) -> None:
    """But for the last bits: on some processors they depend on where a tensor lies."""

    def equal(one: Tensor, other: Tensor) -> bool:
        return one.shape == other.shape and torch.allclose(one, other, rtol=1e-5, atol=1e-5)

    trace = ours(tokenizer).trace(TEXT)
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


def test_no_trace_can_be_changed_or_asks_for_gradients(model: Model) -> None:
    model = replace(model, encoder=model.encoder.requires_grad_(True))
    trace = model.trace(TEXT)
    for record, name in ((trace, "logits"), (trace.blocks[0], "ffn")):
        with pytest.raises(AttributeError):
            setattr(record, name, None)
    with torch.enable_grad():
        assert [name for name, value in stages(trace) if value.requires_grad] == []
    model.encoder.requires_grad_(False)


@PLAIN_AND_EDITED
def test_each_of_many_texts_is_what_it_is_alone(model: Model, edits: list[Edit]) -> None:
    for batch in (2, 64):
        for text, trace in zip(TEXTS, model.traces(TEXTS, edits, batch=batch), strict=True):
            alone = model.trace(text, edits)
            assert (trace.text, trace.tokens, [*trace.edits]) == (text, alone.tokens, edits)
            for (name, one), (_, other) in zip(stages(trace), stages(alone), strict=True):
                assert_allclose(one, other, atol=2e-5, err_msg=name)
    ids = model.trace(TEXT).ids
    together, run = model.run(torch.stack([ids.flip(0), ids]), edits), model.run(ids, edits)
    torch.testing.assert_close(together.logits[1], run.logits)
    torch.testing.assert_close(together.logits_at(2)[1], run.logits_at(2))
    torch.testing.assert_close(together.blocks[1].ffn.hidden[1], run.blocks[1].ffn.hidden)


def test_texts_are_asked_for_as_the_loop_goes_on_and_long_ones_fewer_at_a_time(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, asked = ours(tokenizer), list[int]()

    def texts() -> Iterator[str]:
        for number in range(30):
            asked.append(number)
            yield "The cat sat on the mat"

    made = model.traces(texts(), batch=4)
    assert not asked
    next(made)
    assert len(asked) <= 5
    assert sum(1 for _ in made) == 29

    shapes: list[tuple[int, ...]] = []
    embed = model.encoder.embed

    def counted(ids: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(ids.shape))
        return embed(ids)

    monkeypatch.setattr(batches, "MOST_HIDDEN", 32 * 30)
    monkeypatch.setattr(model.encoder, "embed", counted)
    assert len(list(model.traces([*TEXTS, *["the " * 60] * 2]))) == 6
    assert all(rows * tokens <= 30 or rows == 1 for rows, tokens in shapes)


def test_what_is_wrong_is_said_with_the_text_it_is_in(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
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


def test_part_of_a_trace_has_rows_of_the_whole_and_computes_no_pass() -> None:
    whole = load("relu").trace(TEXT)
    part = token_slice(whole, range(2, 5))
    assert [token.text for token in part.tokens] == [" sat", " on", " the"]
    for here, there in zip(part.blocks, whole.blocks, strict=True):
        for name in ("input", "middle", "output"):
            assert torch.equal(getattr(here, name), getattr(there, name)[2:5])
        for name, stage in vars(here.ffn).items():
            assert torch.equal(stage, getattr(there.ffn, name)[2:5])
    assert torch.equal(part.ids, whole.ids[2:5])
    assert torch.equal(part.logits_at(0), whole.logits_at(2))
    assert torch.equal(part.logits_at(-1), whole.logits_at(4))
    torch.testing.assert_close(part.logits, whole.logits[2:5])
    assert part.blocks[0].output.data_ptr() == whole.blocks[0].output[2:].data_ptr(), "no copy"
    assert token_slice(whole, range(len(whole.tokens))) is whole
    for wrong in (range(3, 3), range(-1, 2), range(2, 99), range(0, 4, 2)):
        with pytest.raises(ValueError, match="are not neighbours"):
            token_slice(whole, wrong)


def tokens(*texts: str) -> list[Token]:
    """Some that follow each other; those in square brackets are special and no part of the text."""
    made, at = [], 0
    for place, text in enumerate(texts):
        special = text if text.startswith("[") else ""
        own = "" if special else text
        made.append(Token(place, own, at, at + len(own), special))
        at += len(own)
    return made


def test_a_token_finds_the_one_of_another_tokenizer_that_reads_its_last_character() -> None:
    ours = tokens("the", " cats", " sat")
    theirs = tokens("[CLS]", "the", " cat", "s", " s", "at", "[SEP]")
    assert aligned_tokens(ours, theirs) == [1, 3, 5]
    assert aligned_tokens(theirs, ours) == [0, 0, 1, 1, 2, 2, 2]
    assert aligned_tokens(theirs, theirs) == [*range(7)]
    assert aligned_tokens(tokens("a", "b", "c"), tokens("a", "b")) == [0, 1, 1]
    assert aligned_tokens(tokens("é", ""), tokens("é")) == [0, 0]
    assert words_among(theirs) == range(1, 6), "all between special tokens"
    assert words_among(tokens("[CLS]", "[SEP]")) == range(2), "nothing else is there to show"
