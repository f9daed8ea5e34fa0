"""Traces saved or pickled, read again, joined, and as data with named axes."""

import copy
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from safetensors.torch import load_file

import ffnviz
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.token_slice import token_slice
from ffnviz.models.trace import Trace
from ffnviz.models.trace_file import TraceFileError
from tests.analysis.networks import ours

TEXT = "The cat sat on the [MASK]."
TEXTS = [TEXT, "She", "Where is the little girl?"]
EDITS = [
    Edit(0, [3, 4], value=torch.tensor([0.5, 0.25]), tokens=[1, 2]),
    Edit(1, add=torch.ones(16), at="output"),
    Edit(1, [2], scale=0.0),
]


@pytest.fixture(params=["gelu", "swiglu"], scope="module")
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return ours(tokenizer, activation=request.param)


def saved(trace: Trace, folder: Path) -> Trace:
    trace.save(folder / "a.safetensors")
    return Trace.load(folder / "a.safetensors")


def pickled(trace: Trace, _: Path) -> Trace:
    loaded: Trace = pickle.loads(pickle.dumps(trace))
    return loaded


@pytest.mark.parametrize("again", [saved, pickled])
def test_what_is_read_is_what_was_computed_to_the_bit(
    model: Model, tmp_path: Path, again: Callable[[Trace, Path], Trace]
) -> None:
    trace = model.trace(TEXT, EDITS)
    row = trace.logits_at(2)
    _ = trace.blocks[0].ffn, trace.blocks[1].attention, trace.logits
    read = again(trace, tmp_path)
    assert (read.text, read.tokens, read.n_left_out) == (TEXT, trace.tokens, 0)
    assert read.edits == trace.edits
    assert read.network is None
    for name in ("ids", "embedding", "final", "logits"):
        assert torch.equal(getattr(read, name), getattr(trace, name)), name
    if again is pickled:
        assert torch.equal(read.logits_at(2), row)
    else:
        tensors = load_file(tmp_path / "a.safetensors")  # as anybody reads it
        assert torch.equal(tensors["blocks.0.ffn.hidden"], trace.blocks[0].ffn.hidden)
        assert "blocks.1.ffn.hidden" not in tensors
    for one, other in zip(read.blocks, trace.blocks, strict=True):
        for name in ("input", "middle", "output"):
            assert torch.equal(getattr(one, name), getattr(other, name)), name
    for name, value in vars(trace.blocks[0].ffn).items():
        assert torch.equal(getattr(read.blocks[0].ffn, name), value), name
    assert type(read.blocks[0].ffn) is type(trace.blocks[0].ffn)
    assert torch.equal(read.blocks[1].attention.weights, trace.blocks[1].attention.weights)
    bare = again(model.trace(TEXT), tmp_path)
    asked: list[Callable[[], object]] = [
        lambda: read.blocks[1].ffn, lambda: read.blocks[0].attention,
        lambda: bare.blocks[0].ffn, lambda: bare.logits, lambda: bare.logits_at(1),
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises(RuntimeError, match="pickled without its network, and what you ask"):
            ask()
    with pytest.raises(ValueError, match="saved or pickled, which leaves its network out"):
        ffnviz.show(read)


def test_a_file_has_one_whole_text_and_neither_others_nor_the_network(
    model: Model, tmp_path: Path
) -> None:
    made = list(model.traces(TEXTS))
    assert torch.equal(saved(made[1], tmp_path).final, made[1].final)
    one = len(made[1].tokens) * 16 * 4
    assert (tmp_path / "a.safetensors").stat().st_size < 6 * one + 3_000
    assert torch.equal(saved(token_slice(made[0], range(2)), tmp_path).final, made[0].final)
    whole = load("relu").trace("word " * 120)
    size = len(pickle.dumps(whole))
    assert size < whole.nbytes + 100_000  # the network is 42 MB
    part = token_slice(whole, range(3, 5))
    assert len(pickle.dumps(part)) < 1.2 * size
    assert [token.text for token in pickled(part, tmp_path).tokens] == [
        token.text for token in whole.tokens[3:5]
    ]
    for each in (copy.copy(whole), copy.deepcopy(whole)):
        assert each.network is whole.network
        assert each.blocks[0].ffn.hidden.shape == (len(whole.tokens), 2_048)


def test_a_trace_reads_as_one_line() -> None:
    relu = load("relu")
    trace, long = relu.trace(TEXT, [Edit(0, [3], scale=0.0)]), relu.trace("word " * 500 + "\n")
    assert repr(trace) == f"Trace('{TEXT}', {len(trace.tokens)} tokens, 2 blocks, 1 edit)"
    for each in (trace, long, token_slice(long, range(2)), trace.blocks[0], relu.run(long.ids)):
        assert len(repr(each)) <= 100
        assert "\n" not in repr(each)


@pytest.mark.parametrize("content", [b"", b"{}", b"\x08\0\0\0\0\0\0\0{}      ", b"x" * 99])
def test_a_file_that_is_no_trace_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd").write_bytes(content)
    with pytest.raises(TraceFileError, match="odd is not a trace saved"):
        Trace.load(tmp_path / "odd")
    with pytest.raises(TraceFileError, match="nowhere: there is no such file"):
        Trace.load(tmp_path / "nowhere")


def test_joined_traces_are_their_tokens_in_a_row(model: Model, tokenizer: Tokenizer) -> None:
    made = [model.trace(text) for text in TEXTS]
    _ = made[0].blocks[0].ffn, Trace.cat(made).blocks[0].ffn
    assert [t.blocks[0].ffn_stages.held is not None for t in made] == [True, False, False]
    row = Trace.cat(made)
    assert row.ids.tolist() == [token.id for trace in made for token in trace.tokens]
    for number, block in enumerate(row.blocks):
        hidden = torch.cat([trace.blocks[number].ffn.hidden for trace in made])
        assert torch.equal(block.ffn.hidden, hidden)
        assert torch.equal(block.output, torch.cat([t.blocks[number].output for t in made]))
    assert_allclose(row.logits, torch.cat([trace.logits for trace in made]), atol=1e-5)
    for place, (text, own) in enumerate(zip(row.texts, row.places, strict=True)):
        assert made[int(text)].tokens[int(own)].id == row.ids[place]
    with pytest.raises(NotForThisNetwork, match="within a text"):
        _ = row.blocks[0].attention
    with pytest.raises(ValueError, match="no traces to be joined"):
        Trace.cat([])
    with pytest.raises(ValueError, match=r"different sizes: \[\(1, 16\), \(2, 16\)\]"):
        Trace.cat([model.trace("a"), ours(tokenizer, n_blocks=1).trace("a")])


def test_named_axes_hold_the_traces_numbers(model: Model) -> None:
    pytest.importorskip("xarray")
    trace = model.trace(TEXT)
    data: Any = trace.to_xarray(logits=True)
    assert data.sizes == {"block": 2, "token": len(trace.tokens), "component": 16, "neuron": 32,
                          "word": 300}  # fmt: skip
    hidden = data.hidden.isel(block=1, neuron=7)
    assert np.array_equal(hidden, trace.blocks[1].ffn.hidden[:, 7])
    assert np.array_equal(data.output.isel(block=0), trace.blocks[0].output)
    assert np.array_equal(data.logits, trace.logits)
    assert ("value" in data) == model.card.gated
    assert list(data.word_typed.values) == [token.text for token in trace.tokens]
    row: Any = Trace.cat([trace, model.trace("She")]).to_xarray()
    assert list(row.text.values) == [0] * len(trace.tokens) + [1] * (
        len(row.token) - len(data.token)
    )
    assert row.hidden.groupby("text").mean().sizes["text"] == 2


def test_a_table_has_each_neuron_on_each_token(model: Model) -> None:
    pytest.importorskip("pandas")
    trace, other = model.trace(TEXT), model.trace("She")
    table: Any = trace.to_pandas()
    n = len(trace.tokens)
    assert len(table) == 2 * n * 32
    for block, token, neuron in ((0, 0, 0), (1, n - 1, 31), (1, 2, 7)):
        row = table.loc[(block, token, neuron)]
        assert row.hidden == float(trace.blocks[block].ffn.hidden[token, neuron])
        assert row.pre_activation == float(trace.blocks[block].ffn.pre_activation[token, neuron])
        assert row.word == trace.tokens[token].text
    assert ("value" in table) == model.card.gated
    joined: Any = Trace.cat([trace, other]).to_pandas()
    second = joined[joined.text == 1]
    assert len(second) == 2 * len(other.tokens) * 32
    assert set(second.place) == set(range(len(other.tokens)))


@pytest.mark.parametrize("package", ["xarray", "pandas"])
def test_without_the_package_it_says_how_to_install_it(
    package: str, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as Python has what cannot be imported
    with pytest.raises(
        ImportError, match=rf"needs the package {package}\. Install it: pip install '"
    ):
        getattr(ours(tokenizer).trace(TEXT), f"to_{package}")()
