"""The plain FFN of any network as a module of ours, in float64 on the CPU."""

import torch
from torch import nn

from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.random_init import no_draws
from ffnviz.models.views import FfnView


@torch.inference_mode(mode=False)
def in_double(view: FfnView) -> FeedForward:
    """φ(x W1 + b1) W2 + b2 with the weights of a view that is not gated.

    Where it has only one of the two biases, the other is zero.
    """
    d_ff, d_model = view.keys.shape
    biased = view.key_bias is not None or view.output_bias is not None
    with torch.device("meta"), no_draws():  # the weights follow
        ffn = FeedForward(d_model, d_ff, "identity", bias=biased)
    ffn.activation = view.phi
    ffn.expand.weight = _parameter(view.keys)
    ffn.compress.weight = _parameter(view.values.mT.contiguous())
    if biased:
        ffn.expand.bias = _parameter(view.keys.new_zeros(d_ff), view.key_bias)
        ffn.compress.bias = _parameter(view.keys.new_zeros(d_model), view.output_bias)
    return ffn.eval()


def _parameter(default: torch.Tensor, given: torch.Tensor | None = None) -> nn.Parameter:
    values = default if given is None else given
    return nn.Parameter(values.detach().cpu().double().clone(), requires_grad=False)
