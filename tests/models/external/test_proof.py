"""What is proved of each family, against modules that the tests name and watch themselves."""

from collections.abc import Callable

import pytest
import torch
import transformers as T  # noqa: N812
from numpy.testing import assert_allclose
from torch import Tensor, nn

import ffnviz
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.proof import EQUATIONS, prove
from tests.models.external.families import FAMILIES, HEADS, build, two_texts
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


def test_each_family_is_known_by_its_equations(external_network: ExternalNetwork) -> None:
    up, gate, down, phi, kind = EXPECTED[external_network.label]
    proof = external_network.proof
    assert len(proof.blocks) == DEEP.get(external_network.label, 2)
    for proved in proof.blocks:
        assert proved.ffn.up.name == up
        assert (proved.ffn.gate.name if proved.ffn.gate else None) == gate
        assert proved.ffn.down.name == down
        assert proved.stream.kind == kind
        assert (proved.stream.written_norm is not None) == (external_network.label in SANDWICHES)
        assert proved.stream.multiplier == (0.22 if external_network.label == "Granite" else 1)
    assert external_network.card.phi.label == phi
    assert external_network.card.causal == (external_network.label not in BOTH_WAYS)
    assert external_network.card.has_word_head == (external_network.label not in HEADLESS)
    assert external_network.card.has_word_vectors == (external_network.label in PLAIN_HEADS)
    assert proof.errors.keys() == EQUATIONS.keys()
    assert max(proof.errors.values()) <= proof.tolerance == 2e-5
    assert len(proof.in_words) == 5


class Watched:
    """What the modules of a network of its own read and wrote, by the names given by hand."""

    def __init__(self, model: nn.Module, family: str) -> None:
        self.read: dict[str, list[Tensor]] = {}
        self.wrote: dict[str, list[Tensor]] = {}
        up, gate, down, *_ = EXPECTED[family]
        for name, module in model.named_modules():
            for role, end in (("up", up), ("gate", gate), ("down", down)):
                if end and name.endswith("." + end) and ".attention." not in name:
                    module.register_forward_hook(self._hook(role))

    def _hook(self, role: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        def seen(_: nn.Module, args: tuple[Tensor, ...], out: Tensor) -> None:
            self.read.setdefault(role, []).append(args[0].clone())
            self.wrote.setdefault(role, []).append(out.clone())

        return seen


@pytest.mark.parametrize("written", [0.22, 0.2201, 0.22001, 1.4 / 8**0.5, 0.99999, 1.0])
def test_a_multiplier_near_a_short_number_is_what_it_is(written: float) -> None:
    config = T.GraniteConfig(**HEADS, residual_multiplier=written)
    model = build(lambda: T.AutoModelForCausalLM.from_config(config))
    network = ffnviz.from_module(model, metaspace(), "Granite")
    assert network.proof.blocks[0].stream.multiplier == pytest.approx(written, rel=1e-6)


def test_every_number_of_a_trace_is_the_networks_own(external_network: ExternalNetwork) -> None:
    model = build(FAMILIES[external_network.label])  # unhooked, unpatched
    watched = Watched(model, external_network.label)
    ids = two_texts()
    with torch.inference_mode():
        told = model(input_ids=ids, output_hidden_states=True)
    trace = external_network.run(ids)
    r = external_network.proof.blocks[0].stream.multiplier
    streams = told.hidden_states
    for number, block in enumerate(trace.blocks):
        assert_allclose(block.input, streams[number], atol=1e-6)
        if number + 1 < len(trace.blocks):  # the last of the library's is normed
            assert_allclose(block.output, streams[number + 1], atol=1e-6)
        ffn, shape = block.ffn, (*ids.shape, -1)
        assert torch.equal(ffn.input, watched.read["up"][number].reshape(shape))
        assert torch.equal(ffn.hidden, watched.read["down"][number].reshape(shape))
        written = r * watched.wrote["down"][number].reshape(shape)
        assert_allclose(ffn.output, written, atol=1e-6)
        wrote = watched.wrote["gate" if "gate" in watched.wrote else "up"][number]
        pre = wrote.reshape(shape)
        if pre.shape[-1] == 2 * ffn.hidden.shape[-1]:
            pre = pre.chunk(2, -1)[external_network.proof.blocks[number].ffn.half or 0]
        assert torch.equal(ffn.pre_activation, pre)
    if external_network.card.has_word_head:
        assert_allclose(trace.logits, told.logits, atol=2e-5)
        assert_allclose(trace.logits_at(3), told.logits[:, 3], atol=2e-5)


def test_a_probe_of_another_length_proves_the_same(
    network_of: Callable[[str], ExternalNetwork],
) -> None:
    external_network = network_of("Gemma 3")
    again = prove(build(FAMILIES["Gemma 3"]), two_texts(2, 5), 2)
    assert [b.ffn.down.name for b in again.blocks] == [
        b.ffn.down.name for b in external_network.proof.blocks
    ]
    assert again.causal


@pytest.mark.parametrize("family", ["GPT-2", "Llama"])
def test_half_precision_is_proved_as_far_as_it_goes(family: str) -> None:
    proof = prove(build(FAMILIES[family]).bfloat16(), two_texts(), 6)
    assert proof.tolerance == 2e-2
    assert 0 < max(proof.errors.values()) <= proof.tolerance
