"""The live page's own tokenizer and encoder give what Python gives."""

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ffnviz.analysis.neurons.intervention import direct_contributions
from ffnviz.analysis.prediction import logits_with_ffn_output
from ffnviz.export.live.packing import NotForALivePageError, packed_network, tokenizer_index
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.trace import Trace
from ffnviz.training.twin import train_tokenizer
from tests.export.live.javascript import Call, running
from tests.export.live.texts import N, all_kinds

CLOSE = 2e-3  # relative to the largest value of its kind in its sentence
MODULES = ("encoder.js", "tokenizer.js")
FUNCTIONS = Path(__file__).with_name("engine.js").read_text("utf-8")


@pytest.fixture(scope="module")
def call() -> Iterator[Call]:
    with running(MODULES, FUNCTIONS) as call:
        yield call


def load_into(call: Call, model: Model, name: str, allowed: bool = True) -> None:
    packed = packed_network(model)
    weights = base64.b64encode(packed.weights).decode()
    call("tokenizer", tokenizer_index(model.tokenizer))
    kind = call("encoder", {"index": packed.index, "weights": weights, "allowed": allowed,
                            "name": name})  # fmt: skip
    assert kind == ("simd" if allowed else "plain")


def expected(model: Model, trace: Trace, token: int) -> dict[str, torch.Tensor]:
    values = {"embedding": trace.embedding, "final": trace.final, "logits": trace.logits_at(token)}
    for number, block in enumerate(trace.blocks):
        values |= {f"{number} {kind}": getattr(block, kind)
                   for kind in ("input", "middle", "output")}  # fmt: skip
        for kind in ("input", "queries", "keys", "values", "weights", "output"):
            values[f"{number} attention {kind}"] = getattr(block.attention, kind)
        for kind in ("input", "pre_activation", "hidden", "output"):
            values[f"{number} ffn {kind}"] = getattr(block.ffn, kind)
        if not trace.edits:
            zeros = torch.zeros_like(block.middle)
            values[f"{number} without"] = logits_with_ffn_output(model, trace, number, zeros, token)
        added = direct_contributions(model, trace, token, 7, number)
        values[f"{number} adds"] = torch.from_numpy(added)
    return values


def check(found: Mapping[str, str], wanted: Mapping[str, torch.Tensor]) -> float:
    """The largest relative error."""
    worst = 0.0
    for name, tensor in wanted.items():
        right: NDArray[Any] = tensor.numpy().ravel()
        value = np.frombuffer(base64.b64decode(found[name]), dtype="<f4")
        assert value.shape == right.shape, name
        error = float(np.abs(value - right).max() / max(float(np.abs(right).max()), 1e-9))
        assert error < CLOSE, (name, error)
        worst = max(worst, error)
    return worst


def traced(call: Call, model: Model, name: str, text: str) -> float:
    trace = model.trace(text, hold="all")
    token = len(trace.tokens) // 2
    ids = [token.id for token in trace.tokens]
    found = call("trace", {"name": name, "ids": ids, "token": token})
    return check(found, expected(model, trace, token))


def test_every_sentence_has_the_same_ids_and_spans(call: Call) -> None:
    model, texts = load("relu"), all_kinds()
    assert len(texts) == N
    call("tokenizer", tokenizer_index(model.tokenizer))
    for text in texts:
        for most in (128, None):
            wanted = model.tokenizer.encode(text, most)
            found = call("encode", {"text": text, "most": most})
            assert [each["id"] for each in found["tokens"]] == wanted.ids, text
            assert [(t["start"], t["end"]) for t in found["tokens"]] == wanted.spans, text
            written = [json.dumps(each["text"]) for each in found["tokens"]]
            assert written == [json.dumps(token.text) for token in wanted.tokens]
            assert found["nLeftOut"] == wanted.n_left_out


@pytest.mark.parametrize("name", ["relu", "gelu"])
def test_every_value_of_a_sentence_is_the_same(call: Call, name: str) -> None:
    model = load(name)
    load_into(call, model, name)
    worst = max(traced(call, model, name, text) for text in all_kinds()[::15])
    assert 0 < worst < 5e-4, "weights are float16 in the folder, too"


def test_without_webassembly_the_values_are_the_same(call: Call) -> None:
    model = load("gelu")
    load_into(call, model, "plain", allowed=False)
    traced(call, model, "plain", all_kinds()[0])


@pytest.mark.parametrize("allowed", [True, False])
def test_a_row_of_a_product_is_the_same_in_whichever_tile(call: Call, allowed: bool) -> None:
    numbers, n_in, n_out = list(range(1, 41)), 12, 24
    generator = torch.Generator().manual_seed(3)
    shapes = (max(numbers), n_in), (n_out, n_in), (n_out,)
    x, matrix, bias = (torch.randn(shape, generator=generator) for shape in shapes)
    given = {"x": x.tolist(), "matrix": matrix.tolist(), "bias": bias.tolist()}
    found = call("products", {**given, "numbers": numbers, "allowed": allowed})
    wanted = torch.nn.functional.linear(x, matrix, bias)
    whole = found[-1]["y"]
    np.testing.assert_allclose(whole, wanted.ravel(), rtol=1e-5, atol=1e-5)
    for n, each in zip(numbers, found, strict=True):
        assert each["y"] == whole[: n * n_out], n
        assert each["spared"], f"{n} rows were written beyond their tiles"


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_network_of_other_sizes_has_its_values(
    call: Call, activation: str, allowed: bool
) -> None:
    tokenizer = train_tokenizer(filter(str.isascii, all_kinds()), vocab_size=296)
    config = EncoderConfig(vocab_size=tokenizer.vocab_size, d_model=24, n_heads=6, d_ff=40,
                           n_blocks=3, max_tokens=37, activation=activation)  # fmt: skip
    encoder, generator = initial_encoder(config, 1), torch.Generator().manual_seed(5)
    for weight in encoder.parameters():
        weight.data = torch.randn(weight.shape, generator=generator).half().float() / 2
    model = Model("own", encoder, tokenizer, torch.zeros(tokenizer.vocab_size))
    load_into(call, model, "own", allowed)
    word = "cat "
    for n in (1, 2, 3, 5, 9, 12, 13, 20, 23, 24, 33, 60):
        traced(call, model, "own", word * n)


def test_neurons_that_are_switched_off_change_what_follows(call: Call) -> None:
    model = load("relu")
    load_into(call, model, "relu")
    neurons = [3, 812, 2_047]
    trace = model.trace("She opened the [MASK] and looked out.",
                        Edit(block=0, neurons=neurons, scale=0.0), hold="all")  # fmt: skip
    ids = [token.id for token in trace.tokens]
    found = call("trace", {"name": "relu", "ids": ids, "token": 3, "off": [neurons, []]})
    check(found, expected(model, trace, 3))
    plain = call("trace", {"name": "relu", "ids": ids, "token": 3})
    assert plain["logits"] != found["logits"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"norm": "post"}, "after the residual sums"),
        ({"causal": True}, "causal"),
        ({"activation": "swiglu"}, "its φ is swiglu"),
        ({"bias": False}, "no biases"),
        ({"d_model": 20}, "not all multiples of 8"),
    ],
)
def test_another_network_is_refused_in_a_sentence(
    tokenizer: Tokenizer, change: dict[str, Any], why: str
) -> None:
    sizes = {"vocab_size": tokenizer.vocab_size, "d_model": 16, "n_heads": 2, "d_ff": 32}
    config = EncoderConfig(**{**sizes, **change})
    model = Model("own", initial_encoder(config, 1), tokenizer, torch.zeros(tokenizer.vocab_size))
    with pytest.raises(NotForALivePageError, match=why):
        packed_network(model)
