"""The same networks with hooks written by hand, on modules chosen by their names."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from tests.models.external.families import FAMILIES, build


@dataclass(frozen=True)
class Names:
    """Where a family has what: the list of blocks, and in a block what writes.

    Attributes:
        blocks: path of the list.
        attention, ffn: paths in a block, of what attention adds and of what the FFN writes.
        down: of the FFN's last linear layer, whose input is hidden.
        heads: of the linear layer that reads what the heads gathered, W_O.
        middle: of the norm that reads the stream between attention and FFN; of BERT, that makes it.
        r: what both are multiplied by before they are added.
    """

    blocks: str
    attention: str
    ffn: str
    down: str
    heads: str
    middle: str
    r: float = 1.0


LLAMA = Names(
    "model.layers", "self_attn", "mlp", "mlp.down_proj", "self_attn.o_proj",
    "post_attention_layernorm",
)  # fmt: skip
NAMES = {
    "GPT-2": Names("transformer.h", "attn", "mlp", "mlp.c_proj", "attn.c_proj", "ln_2"),
    "BERT": Names(
        "bert.encoder.layer", "attention.output.dense", "output.dense", "output.dense",
        "attention.output.dense", "attention.output.LayerNorm"),
    "GPT-NeoX": Names(
        "gpt_neox.layers", "attention", "mlp", "mlp.dense_4h_to_h", "attention.dense", ""),
    "Llama": LLAMA,
    "Qwen3": LLAMA,
    "Granite": replace(LLAMA, r=0.22),
    "Gemma 2": replace(
        LLAMA, attention="post_attention_layernorm", middle="pre_feedforward_layernorm"),
    "Gemma 4": replace(
        LLAMA, attention="post_attention_layernorm", middle="pre_feedforward_layernorm"),
    "T5's encoder": Names(
        "encoder.block", "layer.0.SelfAttention", "layer.1.DenseReluDense",
        "layer.1.DenseReluDense.wo", "layer.0.SelfAttention.o", "layer.1.layer_norm"),
}  # fmt: skip
Change = Callable[[Tensor], Tensor]


def _first(returned: Any, change: Change) -> Any:
    if isinstance(returned, tuple):
        return (change(returned[0]), *returned[1:])
    return change(returned)


def hooked(
    family: str, block: int, at: str, change: Change, model: nn.Module | None = None
) -> nn.Module:
    """A network of a family, fresh or this one, with a change made of what is (B, T, width)."""
    names = NAMES[family]
    model = build(FAMILIES[family]) if model is None else model
    module = model.get_submodule(f"{names.blocks}.{block}")
    scaled: Change = lambda x: change(x * names.r) / names.r  # noqa: E731
    if at == "input":
        module.register_forward_pre_hook(
            lambda _, args, kwargs: (
                (change(args[0]), *args[1:]) if args else args,
                kwargs if args else {**kwargs, "hidden_states": change(kwargs["hidden_states"])},
            ),
            with_kwargs=True,
        )
    elif at == "output":
        module.register_forward_hook(lambda _, __, told: _first(told, change))
    elif at in ("hidden", "heads"):
        reads = names.down if at == "hidden" else names.heads
        module.get_submodule(reads).register_forward_pre_hook(
            lambda _, args: (change(args[0]), *args[1:])
        )
    elif at == "middle" and family != "BERT":  # in place, as the block adds to the same tensor
        module.get_submodule(names.middle).register_forward_pre_hook(
            lambda _, args: (args[0].copy_(change(args[0])), *args[1:])
        )
    else:
        inner = module.get_submodule(getattr(names, at))
        inner.register_forward_hook(lambda _, __, told: _first(told, scaled))
    return model


def logits_of(model: nn.Module, ids: Tensor, **more: Any) -> Tensor:
    """What it makes of ids, (B, T): its logits, or without a head its last hidden state."""
    with torch.inference_mode():
        told = model(input_ids=ids, **more)
    made: Tensor = told[0] if getattr(told, "logits", None) is None else told.logits
    return made
