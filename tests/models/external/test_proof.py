"""What is proved of each family, against modules that the tests name and watch themselves.

What breaks an equation is refused, with the equation and the block.
"""

from collections.abc import Callable
from functools import partial, wraps
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
import transformers as T  # noqa: N812
from numpy.testing import assert_allclose
from torch import Tensor, nn

import ffnviz
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.proof import EQUATIONS, probe_ids, prove
from ffnviz.models.external.refusal import NotProvedError
from ffnviz.models.external.tokenizer import ExternalTokenizer
from tests.models.external.families import FAMILIES, HEADS, IDS, WIDE, build, two_texts
from tests.models.external.folders import network_of
from tests.models.external.tokenizers import metaspace

BERT = ("intermediate.dense", None, "output.dense", "GELU", "post")
LLAMA = ("mlp.up_proj", "mlp.gate_proj", "mlp.down_proj", "SwiGLU", "pre")
GEMMA = (*LLAMA[:3], "gated GELU (tanh)", "pre")
# By hand, from each family's source: up, gate, down, φ, and where the norm is.
EXPECTED = {
    "BERT": BERT, "BERT without a head": BERT, "RoBERTa": BERT, "ELECTRA": BERT,
    "DeBERTa v2": BERT, "DeBERTa v3": BERT,
    "BLOOM": ("mlp.dense_h_to_4h", None, "mlp.dense_4h_to_h", "GELU (tanh)", "pre"),
    "DistilBERT": ("ffn.lin1", None, "ffn.lin2", "GELU", "post"),
    "ALBERT": ("ffn", None, "ffn_output", "GELU (tanh)", "post"),
    "ModernBERT": ("mlp.Wi", None, "mlp.Wo", "GEGLU", "pre"),
    "GPT-2": ("mlp.c_fc", None, "mlp.c_proj", "GELU (tanh)", "pre"),
    "GPT-NeoX": ("mlp.dense_h_to_4h", None, "mlp.dense_4h_to_h", "GELU", "parallel"),
    "GPT-NeoX in a row": ("mlp.dense_h_to_4h", None, "mlp.dense_4h_to_h", "GELU", "pre"),
    "OPT": ("fc1", None, "fc2", "ReLU", "pre"),
    "OPT, post": ("fc1", None, "fc2", "ReLU", "post"),
    "Llama": LLAMA, "Mistral": LLAMA, "Qwen2": LLAMA, "Qwen3": LLAMA, "Granite": LLAMA,
    "OLMo 2": LLAMA, "Gemma 2": GEMMA, "Gemma 3": GEMMA, "Gemma 4": GEMMA,
    "Phi-3": ("mlp.gate_up_proj", None, "mlp.down_proj", "SwiGLU", "pre"),
    "Cohere": (*LLAMA[:4], "parallel"),
    "T5's encoder": ("layer.1.DenseReluDense.wi", None, "layer.1.DenseReluDense.wo", "ReLU", "pre"),
    "T5's gated encoder": ("layer.1.DenseReluDense.wi_1", "layer.1.DenseReluDense.wi_0",
                           "layer.1.DenseReluDense.wo", "gated GELU (tanh)", "pre"),
    "Falcon": ("mlp.dense_h_to_4h", None, "mlp.dense_4h_to_h", "GELU", "parallel"),
}  # fmt: skip
SANDWICHES = ("Gemma 2", "Gemma 3", "Gemma 4", "OLMo 2")
DEEP = {"ALBERT": 3, "Gemma 4": 4, "ModernBERT": 4}
BOTH_WAYS = ("BERT", "BERT without a head", "RoBERTa", "ELECTRA", "DistilBERT", "ALBERT",
             "ModernBERT", "DeBERTa v2", "DeBERTa v3", "T5's encoder",
             "T5's gated encoder")  # fmt: skip
HEADLESS = ("BERT without a head", "T5's encoder", "T5's gated encoder")
PLAIN_HEADS = ("GPT-2", "GPT-NeoX", "GPT-NeoX in a row", "OPT", "Llama", "Mistral", "Qwen2",
               "Qwen3", "Phi-3", "BLOOM", "Granite", "OLMo 2", "Gemma 3", "Gemma 4", "Cohere",
               "Falcon")  # fmt: skip


def test_each_family_is_known_by_its_equations(network: ExternalNetwork) -> None:
    up, gate, down, phi, kind = EXPECTED[network.label]
    proof = network.proof
    assert len(proof.blocks) == DEEP.get(network.label, 2)
    for proved in proof.blocks:
        assert proved.ffn.up.name == up
        assert (proved.ffn.gate.name if proved.ffn.gate else None) == gate
        assert proved.ffn.down.name == down
        assert proved.stream.kind == kind
        assert (proved.stream.written_norm is not None) == (network.label in SANDWICHES)
        assert proved.stream.multiplier == (0.22 if network.label == "Granite" else 1)
    assert network.card.phi.label == phi
    assert network.card.causal == (network.label not in BOTH_WAYS)
    assert network.card.has_word_head == (network.label not in HEADLESS)
    assert network.card.has_word_vectors == (network.label in PLAIN_HEADS)
    assert proof.errors.keys() == EQUATIONS.keys()
    assert max(proof.errors.values()) <= proof.tolerance == 2e-5
    assert len(proof.in_words) == 5


def test_every_number_of_a_trace_is_the_networks_own(network: ExternalNetwork) -> None:
    model = build(FAMILIES[network.label])  # unhooked, unpatched
    up, gate, down, *_ = EXPECTED[network.label]
    read: dict[str, list[Tensor]] = {"up": [], "gate": [], "down": []}
    wrote: dict[str, list[Tensor]] = {"up": [], "gate": [], "down": []}

    def watch(_: nn.Module, args: tuple[Tensor, ...], out: Tensor, role: str) -> None:
        read[role].append(args[0].clone())
        wrote[role].append(out.clone())

    for name, module in model.named_modules():
        for role, end in (("up", up), ("gate", gate), ("down", down)):
            if end and name.endswith("." + end) and ".attention." not in name:
                module.register_forward_hook(partial(watch, role=role))
    ids = two_texts()
    with torch.inference_mode():
        told = model(input_ids=ids, output_hidden_states=True)
    trace = network.run(ids)
    r = network.proof.blocks[0].stream.multiplier
    streams = told.hidden_states
    for number, block in enumerate(trace.blocks):
        assert_allclose(block.input, streams[number], atol=1e-6)
        if number + 1 < len(trace.blocks):  # the last of the library's is normed
            assert_allclose(block.output, streams[number + 1], atol=1e-6)
        ffn, shape = block.ffn, (*ids.shape, -1)
        assert torch.equal(ffn.input, read["up"][number].reshape(shape))
        assert torch.equal(ffn.hidden, read["down"][number].reshape(shape))
        written = r * wrote["down"][number].reshape(shape)
        assert_allclose(ffn.output, written, atol=1e-6)
        pre = wrote["gate" if gate else "up"][number].reshape(shape)
        if pre.shape[-1] == 2 * ffn.hidden.shape[-1]:
            pre = pre.chunk(2, -1)[network.proof.blocks[number].ffn.half or 0]
        assert torch.equal(ffn.pre_activation, pre)
    if network.card.has_word_head:
        assert_allclose(trace.logits, told.logits, atol=2e-5)
        assert_allclose(trace.logits_at(3), told.logits[:, 3], atol=2e-5)


@pytest.mark.parametrize("written", [0.22001, 1.4 / 8**0.5, 0.99999, 1.0])
def test_a_multiplier_near_a_short_number_is_what_it_is(written: float) -> None:
    config = T.GraniteConfig(**HEADS, residual_multiplier=written)
    model = build(lambda: T.AutoModelForCausalLM.from_config(config))
    network = ffnviz.from_module(model, metaspace(), "Granite")
    assert network.proof.blocks[0].stream.multiplier == pytest.approx(written, rel=1e-6)


@pytest.mark.parametrize("family", ["GPT-2", "Llama", "Gemma 3"])
def test_another_probe_and_half_precision_prove_the_same(family: str) -> None:
    names = [each.ffn.down.name for each in network_of(family).proof.blocks]
    again = prove(build(FAMILIES[family]), two_texts(2, 5), 2)
    assert [each.ffn.down.name for each in again.blocks] == names
    assert again.causal
    half = prove(build(FAMILIES[family]).bfloat16(), two_texts(), 6)
    assert half.tolerance == 2e-2
    assert 0 < max(half.errors.values()) <= half.tolerance


@pytest.mark.parametrize("ids", [(0, 0, 0), (7, 7, 7), (3, 5, 0), (3, 5, 5)])
def test_the_probes_texts_differ_whatever_a_tokenizer_makes_of_them(ids: tuple[int, ...]) -> None:
    tokens = [SimpleNamespace(id=each, special=False) for each in ids]
    read: Any = SimpleNamespace(encode=lambda *_: SimpleNamespace(tokens=tokens))
    texts, changed = probe_ids(cast(ExternalTokenizer, read), torch.device("cpu"))
    assert (texts[0] != texts[1]).nonzero().flatten().tolist() == [changed] == [2]


def _norm_inside(model: Any) -> None:  # BitNet has one
    mlp, norm = model.model.layers[1].mlp, nn.LayerNorm(88)
    mlp.inside = norm
    mlp.forward = lambda x: mlp.down_proj(norm(mlp.act_fn(mlp.gate_proj(x)) * mlp.up_proj(x)))


def _layer_scale(model: Any) -> None:
    mlp, scale = model.model.layers[1].mlp, torch.linspace(0.5, 1.5, 32)
    own = mlp.forward
    mlp.forward = lambda x: own(x) * scale


def _tanh(model: Any) -> None:
    mlp = model.model.layers[1].mlp
    mlp.forward = lambda x: mlp.down_proj(torch.tanh(mlp.gate_proj(x)) * mlp.up_proj(x))


def _norm_as_phi(model: Any) -> None:
    mlp, norm = model.model.layers[1].mlp, nn.LayerNorm(88)
    mlp.act_fn = norm


def _output_scaled(model: Any) -> None:
    down = model.model.layers[1].mlp.down_proj
    own = down.forward
    down.forward = lambda x: own(x) * 1.01


def _ids_leak(model: Any) -> None:
    own = model.forward

    @wraps(own)
    def forward(*args: Any, **kwargs: Any) -> Any:
        told = own(*args, **kwargs)
        told.logits = told.logits + 0.01 * kwargs["input_ids"].float().mean()
        return told

    model.forward = forward


def _stream_between(model: Any) -> None:
    layer = model.model.layers[1]
    layer.register_forward_pre_hook(lambda _, args: (args[0] * 1.01, *args[1:]), prepend=True)


@pytest.mark.parametrize(
    ("spoil", "equation", "block"),
    [
        (_norm_inside, "E2", 1),
        (_tanh, "E2", 1),
        (_norm_as_phi, "E2", 1),
        (_output_scaled, "E1", 1),
        (_layer_scale, "E3", 1),
        (_stream_between, "E4", None),
        (_ids_leak, "E5", None),
    ],
)
def test_a_broken_equation_is_named(
    spoil: Callable[[Any], None], equation: str, block: int | None, llama: nn.Module
) -> None:
    prove(llama, two_texts(), 6)  # sound before
    spoil(llama)
    with pytest.raises(NotProvedError) as caught:
        prove(llama, two_texts(), 6)
    assert caught.value.equation == equation
    assert caught.value.block == block
    assert str(caught.value).startswith(
        f"{equation}:" if block is None else f"block 2 (from 1), {equation}"
    )


def causal(kind: str, **sizes: Any) -> Callable[[], nn.Module]:
    config = getattr(T, f"{kind}Config")
    return lambda: T.AutoModelForCausalLM.from_config(config(**sizes))


EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24,
                           "shared_expert_intermediate_size": 24}  # fmt: skip
MIXTURES: list[tuple[Callable[[], nn.Module], str, int]] = [
    (causal("Mixtral", **WIDE, num_local_experts=4, num_experts_per_tok=2), "E2", 0),
    (causal("Qwen2Moe", **HEADS, **EXPERTS, mlp_only_layers=[0]), "E3", 1),
    (causal("Llama4Text", **WIDE, **IDS, num_local_experts=4, intermediate_size_mlp=88,
            attention_chunk_size=64), "E3", 0),
    (lambda: T.SwitchTransformersEncoderModel(T.SwitchTransformersConfig(
        d_model=32, d_kv=8, d_ff=88, num_layers=2, num_heads=4, vocab_size=97, num_experts=4,
        num_sparse_encoder_layers=1)), "E2", 1),
]  # fmt: skip


@pytest.mark.parametrize(("make", "equation", "block"), MIXTURES)
def test_a_mixture_is_called_one(make: Callable[[], nn.Module], equation: str, block: int) -> None:
    with pytest.raises(NotProvedError, match="it is a mixture of 4 experts") as caught:
        prove(build(make), two_texts(), 6)
    assert (caught.value.equation, caught.value.block) == (equation, block)


def test_what_is_no_ffn_of_its_own_is_refused() -> None:
    mamba = causal("Mamba", hidden_size=32, num_hidden_layers=2, vocab_size=97, state_size=8, **IDS)
    with pytest.raises(NotProvedError) as caught:
        prove(build(mamba), two_texts(), 6)
    assert (caught.value.equation, caught.value.block) == ("E2", 0)
    assert "it is a mixture" not in str(caught.value)
