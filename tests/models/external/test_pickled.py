"""A trace that was pickled, and how it reads in a notebook."""

import copy
import pickle
from collections.abc import Callable

import pytest
import torch

import ffnviz
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import load
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.token_slice import token_slice
from ffnviz.models.trace import Trace

TEXT = "The cat sat on the [MASK]."


@pytest.fixture
def trace() -> Trace:
    return load("relu").trace(TEXT, [Edit(0, [3], scale=0.0)])


def again(trace: Trace) -> tuple[Trace, int]:
    content = pickle.dumps(trace)
    loaded: Trace = pickle.loads(content)
    return loaded, len(content)


def test_it_keeps_what_was_computed_and_leaves_the_network_out(trace: Trace) -> None:
    hidden, logits, row = trace.blocks[0].ffn.hidden, trace.logits, trace.logits_at(2)
    attention = trace.blocks[1].attention.weights
    loaded, size = again(trace)
    assert size < trace.nbytes + 100_000
    assert (loaded.text, loaded.tokens, loaded.edits) == (TEXT, trace.tokens, trace.edits)
    assert loaded.network is None
    for name in ("ids", "embedding", "final"):
        assert torch.equal(getattr(loaded, name), getattr(trace, name))
    for mine, theirs in zip(loaded.blocks, trace.blocks, strict=True):
        for name in ("input", "middle", "output"):
            assert torch.equal(getattr(mine, name), getattr(theirs, name))
    assert torch.equal(loaded.blocks[0].ffn.hidden, hidden)
    assert torch.equal(loaded.blocks[1].attention.weights, attention)
    assert torch.equal(loaded.logits, logits)
    assert torch.equal(loaded.logits_at(2), row)


def test_what_was_not_computed_is_said(trace: Trace) -> None:
    loaded, size = again(trace)
    assert size < 200_000  # the network is 42 MB
    asked: list[Callable[[], object]] = [
        lambda: loaded.blocks[0].ffn, lambda: loaded.blocks[0].attention,
        lambda: loaded.logits, lambda: loaded.logits_at(1),
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises(RuntimeError, match="pickled without its network, and what you ask"):
            ask()
    with pytest.raises(ValueError, match="saved or pickled, which leaves its network out"):
        ffnviz.show(loaded)


def test_a_part_of_a_long_text_is_as_small_as_its_trace() -> None:
    whole = load("relu").trace("word " * 120)
    _, size = again(whole)
    part, part_size = again(token_slice(whole, range(3, 5)))
    assert [token.text for token in part.tokens] == [t.text for t in whole.tokens[3:5]]
    assert part_size < 1.2 * size


def test_a_trace_of_anothers_network_is_pickled_too(
    network_of: Callable[[str], ExternalNetwork],
) -> None:
    trace = network_of("GPT-2").trace("the cat")
    hidden = trace.blocks[1].ffn.hidden
    loaded, _ = again(trace)
    assert torch.equal(loaded.blocks[1].ffn.hidden, hidden)
    with pytest.raises(RuntimeError, match="pickled without its network"):
        _ = loaded.logits


def test_a_copy_keeps_its_network(trace: Trace) -> None:
    for each in (copy.copy(trace), copy.deepcopy(trace)):
        assert each.network is trace.network
        assert each.blocks[0].ffn.hidden.shape == (len(trace.tokens), 2_048)


def test_it_reads_as_one_line(trace: Trace) -> None:
    assert repr(trace) == f"Trace('{TEXT}', {len(trace.tokens)} tokens, 2 blocks, 1 edit)"
    long = load("relu").trace("word " * 500 + "\n")
    for each in (
        trace,
        long,
        token_slice(long, range(2)),
        trace.blocks[0],
        load("relu").run(long.ids),
    ):
        assert len(repr(each)) <= 100
        assert "\n" not in repr(each)
