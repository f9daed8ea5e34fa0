"""Tiny random networks of the families that people bring, as transformers builds them."""

from collections.abc import Callable
from typing import Any

import torch
import transformers as T  # noqa: N812
from torch import nn

SIZES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 88,
    "vocab_size": 97, "max_position_embeddings": 64,
}  # fmt: skip
HEADS: dict[str, Any] = {**SIZES, "num_key_value_heads": 2}
WIDE: dict[str, Any] = {**HEADS, "head_dim": 8}
IDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GPT2: dict[str, Any] = {
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "vocab_size": 97,
    "n_positions": 64,
}
T5: dict[str, Any] = {
    "d_model": 32, "d_kv": 8, "d_ff": 88, "num_layers": 2, "num_heads": 4, "vocab_size": 97,
}  # fmt: skip
OPT: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 88,
    "vocab_size": 97, "max_position_embeddings": 64,
}  # fmt: skip


def _causal(config: Any) -> Callable[[], nn.Module]:
    return lambda: T.AutoModelForCausalLM.from_config(config)


def _masked(config: Any) -> Callable[[], nn.Module]:
    return lambda: T.AutoModelForMaskedLM.from_config(config)


def _gemma_4() -> nn.Module:
    """With per-layer inputs, a scale a block, and keys and values that later blocks share."""
    config = T.Gemma4TextConfig(
        **{**WIDE, "num_hidden_layers": 4},
        num_kv_shared_layers=2,
        vocab_size_per_layer_input=97,
        hidden_size_per_layer_input=8,
        global_head_dim=16,
        layer_types=["sliding_attention", "full_attention"] * 2,
    )
    model: Any = T.AutoModelForCausalLM.from_config(config)
    for place, layer in enumerate(model.model.layers):
        layer.layer_scalar.fill_(0.3 + 0.171 * place)
    network: nn.Module = model
    return network


FAMILIES: dict[str, Callable[[], nn.Module]] = {
    "BERT": _masked(T.BertConfig(**SIZES)),
    "BERT without a head": lambda: T.AutoModel.from_config(T.BertConfig(**SIZES)),
    "RoBERTa": _masked(T.RobertaConfig(**SIZES)),
    "DistilBERT": _masked(
        T.DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=88, vocab_size=97,
                           max_position_embeddings=64)),
    "ALBERT": _masked(T.AlbertConfig(embedding_size=16, **{**SIZES, "num_hidden_layers": 3})),
    "ModernBERT": _masked(
        T.ModernBertConfig(**{**SIZES, "num_hidden_layers": 4}, **IDS, cls_token_id=1,
                           sep_token_id=2)),
    "ELECTRA": _masked(T.ElectraConfig(embedding_size=16, **SIZES)),
    "GPT-2": _causal(T.GPT2Config(**GPT2)),
    "GPT-NeoX": _causal(T.GPTNeoXConfig(**SIZES)),
    "GPT-NeoX in a row": _causal(T.GPTNeoXConfig(use_parallel_residual=False, **SIZES)),
    "OPT": _causal(T.OPTConfig(**OPT, word_embed_proj_dim=32)),
    "OPT, post": _causal(T.OPTConfig(**OPT, word_embed_proj_dim=16, do_layer_norm_before=False)),
    "Llama": _causal(T.LlamaConfig(**WIDE)),
    "Mistral": _causal(T.MistralConfig(**WIDE)),
    "Qwen2": _causal(T.Qwen2Config(**HEADS)),
    "Qwen3": _causal(T.Qwen3Config(**WIDE)),
    "Gemma 2": _causal(T.Gemma2Config(**WIDE)),
    "Gemma 3": _causal(T.Gemma3TextConfig(**WIDE)),
    "Gemma 4": _gemma_4,
    "Phi-3": _causal(T.Phi3Config(**HEADS, **IDS)),
    "Granite": _causal(T.GraniteConfig(**HEADS, residual_multiplier=0.22, logits_scaling=8.0)),
    "OLMo 2": _causal(T.Olmo2Config(**HEADS)),
    "Cohere": _causal(T.CohereConfig(**HEADS, **IDS)),
    "T5's encoder": lambda: T.T5EncoderModel(T.T5Config(**T5)),
    "T5's gated encoder": lambda: T.T5EncoderModel(
        T.T5Config(**T5, feed_forward_proj="gated-gelu")),
    "BLOOM": _causal(T.BloomConfig(hidden_size=32, n_layer=2, n_head=4, vocab_size=97)),
    "DeBERTa v2": _masked(T.DebertaV2Config(**SIZES)),
    "DeBERTa v3": _masked(
        T.DebertaV2Config(**SIZES, relative_attention=True, share_att_key=True,
                          position_buckets=8, pos_att_type=["p2c", "c2p"],
                          position_biased_input=False, norm_rel_ebd="layer_norm")),
    "Falcon": _causal(
        T.FalconConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, vocab_size=97)),
}  # fmt: skip


# One of each kind of block, stream and head: where a family's own code has no part in it.
KINDS = (
    *("BERT", "BERT without a head", "ALBERT", "GPT-2", "GPT-NeoX", "OPT, post", "Llama"),
    *("Gemma 4", "T5's encoder"),
)


def build(make: Callable[[], nn.Module]) -> nn.Module:
    """One whose gains, biases and tables are not the neutral ones of a new network."""
    torch.manual_seed(0)
    with torch.inference_mode(False):
        model = make().eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return model


def two_texts(changed: int = 6, n_tokens: int = 8) -> torch.Tensor:
    """(2, T): ids that differ at one place."""
    ids = torch.randint(5, 90, (n_tokens,), generator=torch.Generator().manual_seed(2))
    other = ids.clone()
    other[changed] = 93 - other[changed] % 7
    return torch.stack([ids, other])
