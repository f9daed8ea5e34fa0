"""Attention and the FFN as two memories of one form: Σ_k weight(x, key_k) value_k.

Attention's keys and values come from the sentence's tokens, one for each head, and its weights are
a softmax (Vaswani et al. 2017, eq. 1; Sukhbaatar et al. 2019, arXiv:1907.01470). The FFN's keys and
values are columns of W₁ and rows of W₂, and its weights are φ (Geva et al. 2021, eq. 2).
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, encoder_of, own_attention
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.OURS,)


@dataclass(frozen=True, eq=False)
class Memory:
    """What one memory writes at one token, entry by entry.

    Attributes:
        match: q · k / √d_head, or x · k + b, (…).
        weight: softmax or φ of it; in a gated FFN times the value projection, (…).
        written: weight times value, (…, d_model).
        bias: added once, (d_model,).
    """

    match: Tensor
    weight: Tensor
    written: Tensor
    bias: Tensor

    @property
    def output(self) -> Tensor:
        """The sum of all entries and the bias, (d_model,)."""
        return self.written.flatten(0, -2).sum(dim=0) + self.bias

    def strongest(self, k: int) -> NDArray[np.int64]:
        """Indices of the entries with the largest ‖weight · value‖, (k, dimensions)."""
        lengths = self.written.norm(dim=-1)
        best = lengths.flatten().topk(min(k, lengths.numel())).indices
        # NumPy's: PyTorch's own imports a compiler first, which takes two seconds.
        return np.stack(np.unravel_index(best.cpu().numpy(), lengths.shape), axis=-1)


@torch.no_grad()
def attention_memory(model: Network, trace: ForwardPass, block: int, token: int) -> Memory:
    """Attention's entries at a token, (n_heads, T); the trace is of all tokens.

    Raises:
        NotForThisNetwork: if the network is not made of our own modules.
    """
    module = encoder_of(model).blocks[block].attention
    record = own_attention(trace.blocks[block])
    n_heads, _, d_head = record.keys.shape
    match = (record.keys @ record.queries[:, token, :, None])[..., 0] / d_head**0.5
    weight = record.weights[:, token]  # (n_heads, T)
    heads = module.project_out.weight.view(-1, n_heads, d_head)  # (d_model, n_heads, d_head)
    values = torch.einsum("htd,mhd->htm", record.values, heads)
    bias = dict(module.project_out.named_parameters()).get("bias", 0 * values[0, 0])
    return Memory(match, weight, weight[..., None] * values, bias)


@torch.no_grad()
def ffn_memory(model: Network, trace: ForwardPass, block: int, token: int) -> Memory:
    """The FFN's entries at a token, (d_ff,)."""
    record, view = trace.blocks[block].ffn, model.ffn(block)
    weight = record.hidden[token]
    bias = 0 * view.values[0] if view.output_bias is None else view.output_bias
    return Memory(record.pre_activation[token], weight, weight[:, None] * view.values, bias)


@torch.no_grad()
def keys_moved(
    before: ForwardPass, after: ForwardPass, block: int, pairs: NDArray[np.int64]
) -> NDArray[np.float64]:
    """‖k′ − k‖ / ‖k‖ for attention's keys on pairs of tokens of two sentences, (n, 2) -> (n,).

    The keys of a token are those of all heads, side by side; both traces are of all tokens.
    """
    first, second = (
        own_attention(trace.blocks[block]).keys.transpose(0, 1).flatten(1).cpu().double()[tokens]
        for trace, tokens in zip((before, after), pairs.T, strict=True)
    )
    return np.asarray((second - first).norm(dim=1) / first.norm(dim=1))
