"""What breaks an equation is refused, with the equation and the block."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
import torch
import transformers as T  # noqa: N812
from torch import nn

from ffnviz.models.external.proof import prove
from ffnviz.models.external.refusal import NotProvedError
from tests.models.external.families import HEADS, IDS, WIDE, build, two_texts


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


def _mixtral() -> nn.Module:
    config = T.MixtralConfig(**WIDE, num_local_experts=4, num_experts_per_tok=2)
    return build(lambda: T.AutoModelForCausalLM.from_config(config))


def _dense_then_experts() -> nn.Module:
    config = T.Qwen2MoeConfig(
        **HEADS, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24,
        shared_expert_intermediate_size=24, mlp_only_layers=[0],
    )  # fmt: skip
    return build(lambda: T.AutoModelForCausalLM.from_config(config))


def _shared_experts() -> nn.Module:
    config = T.DeepseekV3Config(
        **{**HEADS, "num_key_value_heads": 4}, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8,
        qk_nope_head_dim=8, v_head_dim=8, n_routed_experts=4, num_experts_per_tok=2, n_group=1,
        topk_group=1, moe_intermediate_size=24, first_k_dense_replace=1,
    )  # fmt: skip
    return build(lambda: T.AutoModelForCausalLM.from_config(config))


def _llama_4() -> nn.Module:
    config = T.Llama4TextConfig(
        **WIDE, **IDS, num_local_experts=4, intermediate_size_mlp=88, attention_chunk_size=64,
    )  # fmt: skip
    return build(lambda: T.AutoModelForCausalLM.from_config(config))


def _qwen_3_next() -> nn.Module:
    config = T.Qwen3NextConfig(
        **WIDE, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24,
        shared_expert_intermediate_size=24, layer_types=["full_attention"] * 2,
    )  # fmt: skip
    return build(lambda: T.AutoModelForCausalLM.from_config(config))


def _switch() -> nn.Module:
    config = T.SwitchTransformersConfig(
        d_model=32, d_kv=8, d_ff=88, num_layers=2, num_heads=4, vocab_size=97, num_experts=4,
        num_sparse_encoder_layers=1,
    )  # fmt: skip
    return build(lambda: T.SwitchTransformersEncoderModel(config))


def _mamba() -> nn.Module:
    config = T.MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=97, state_size=8, **IDS)
    return build(lambda: T.AutoModelForCausalLM.from_config(config))


@pytest.mark.parametrize(
    ("make", "equation", "block"),
    [
        (_mixtral, "E2", 0),
        (_dense_then_experts, "E3", 1),
        (_shared_experts, "E3", 1),
        (_llama_4, "E3", 0),
        (_qwen_3_next, "E3", 0),
        (_switch, "E2", 1),
    ],
)
def test_a_mixture_is_called_one(make: Callable[[], nn.Module], equation: str, block: int) -> None:
    with pytest.raises(NotProvedError, match="it is a mixture of 4 experts") as caught:
        prove(make(), two_texts(), 6)
    assert (caught.value.equation, caught.value.block) == (equation, block)


@pytest.mark.parametrize(
    ("make", "equation", "block"),
    [(_mamba, "E2", 0)],
)
def test_what_is_no_ffn_of_its_own_is_refused(
    make: Callable[[], nn.Module], equation: str, block: int
) -> None:
    with pytest.raises(NotProvedError) as caught:
        prove(make(), two_texts(), 6)
    assert (caught.value.equation, caught.value.block) == (equation, block)
    assert "it is a mixture" not in str(caught.value)
