"""A proved network's parts as the equations name them: FFNs, word vectors, word head."""

import copy
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.models.edit import Edit, edited
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, GatedFeedForwardRecord
from ffnviz.models.external.compare import TOLERANCE, best_multiple, error, rows, same, wide
from ffnviz.models.external.hooks import unrecorded
from ffnviz.models.external.phi import named
from ffnviz.models.external.proof import Proof, ProvedBlock, tail
from ffnviz.models.external.roles import HeadRoles, as_product
from ffnviz.models.external.watch import Call, is_leaf, watch_module
from ffnviz.models.views import AttentionView, FfnView, Norm, WordHead, WordVectors

FAR, NEAR = 1e4, 1e-3  # factors that make ε negligible, or noticeable
FITS = 1e-4


@torch.no_grad()
@unrecorded()
def fitted_norm(call: Call | None, d_model: int) -> Norm | None:
    """The LayerNorm or RMSNorm that a module is; None if it is neither, or there is none.

    Gain and bias are found from long rows, for which ε is negligible: N(x) + N(−x) is twice the
    bias, and the rest is linear in the normalised row. ε is found from short rows.
    """
    if call is None:
        return None
    module = call.module
    try:
        kinds = {weight.dtype for weight in module.parameters()}
        kind = torch.float64 if kinds == {torch.float64} else torch.float32
        norm = copy.deepcopy(module).to(kind).cpu()
        x = torch.randn(64, d_model, generator=torch.Generator().manual_seed(0)).to(kind) + 0.5
        written = norm(FAR * x)
        bias = (written + norm(-FAR * x)).mean(0) / 2
        closest = _closest(x, written - bias)
        if closest is None:
            return None
        gain, centred = closest
        eps = _eps(norm, x, gain, bias, centred)
        fitted = Norm(gain, bias if bool(bias.abs().max() > FITS) else None, eps, centred)
        tried = torch.cat([x, 0.1 * x, NEAR * x])
        if error(fitted(tried), norm(tried)) > FITS:
            return None
    except (RuntimeError, TypeError, ValueError):
        return None  # it does not even take such rows
    device = next(module.parameters(), gain).device
    bias_on_device = None if fitted.bias is None else fitted.bias.to(device)
    return Norm(gain.to(device), bias_on_device, eps, centred)


def _normalised(x: Tensor, centred: bool) -> Tensor:
    rest = x - x.mean(-1, keepdim=True) if centred else x
    return rest / rest.square().mean(-1, keepdim=True).sqrt()


def _closest(x: Tensor, written: Tensor) -> tuple[Tensor, bool] | None:
    """The gain, and whether rows are centred; None if neither way gives what was written."""
    for centred in (True, False):
        unit = _normalised(x, centred)
        gain = (written * unit).sum(0) / unit.square().sum(0)
        if error(gain * unit, written) < FITS:
            return gain, centred
    return None


def _eps(norm: nn.Module, x: Tensor, gain: Tensor, bias: Tensor, centred: bool) -> float:
    """ε, from how much shorter a short row becomes than it would be without ε."""
    unit = _normalised(x, centred)
    expected = (gain * unit).double()
    short = (norm(NEAR * unit) - bias).double()
    share = float((short * expected).sum() / expected.square().sum())
    eps = NEAR**2 * (1 / share**2 - 1)
    return max(0.0, float(f"{eps:.3g}")) if eps > 1e-13 else 0.0


def added(proved: ProvedBlock, written: Tensor) -> Tensor:
    """What the FFN adds to the stream (before any norm of it), of what its last layer wrote."""
    r = proved.ffn_multiplier
    return written if r == 1 else r * written


def in_shape(values: Tensor, shape: torch.Size) -> Tensor:
    """Values of a pass, (B, T, width), in the shape of the ids and in float32 at least."""
    return wide(values).reshape(*shape, values.shape[-1])


@torch.no_grad()
def ffn_stages(
    proved: ProvedBlock, edits: tuple[Edit, ...], x: Tensor, shape: torch.Size | None = None
) -> FeedForwardRecord:
    """All stages for the FFN's input, by the network's own modules.

    In the input's shape, (…, T, d_model), or in another one, such as that of the ids.
    """
    weight: Any = proved.ffn.down.module.weight
    with unrecorded():
        pre, value, hidden = proved.ffn.stages(x.to(weight.dtype))
        hidden = edited(hidden, edits)
        written = edited(proved.ffn.down.module(hidden), edits, "ffn")
    return as_record(proved, shape or x.shape[:-1], x, pre, value, hidden, written)


def as_record(
    proved: ProvedBlock,
    shape: torch.Size,
    x: Tensor,
    pre: Tensor,
    value: Tensor | None,
    hidden: Tensor,
    wrote: Tensor,
) -> FeedForwardRecord:
    """The stages as one of our own records, each (*shape, width)."""
    stages = (x, pre, hidden, added(proved, wrote))
    x, pre, hidden, output = (in_shape(stage, shape) for stage in stages)
    if value is None:
        return FeedForwardRecord(x, pre, hidden, output)
    return GatedFeedForwardRecord(x, pre, hidden, output, in_shape(value, shape))


def _wide(values: Tensor | None) -> Tensor | None:
    return None if values is None else wide(values)


def ffn_view(proved: ProvedBlock, d_model: int) -> FfnView:
    """One FFN; the weights themselves, unless they are half precision or have a multiplier."""
    ffn, stream = proved.ffn, proved.stream
    keys, key_bias, gated_value, gated_bias = ffn.projections()
    bias = None if ffn.output_bias is None else added(proved, ffn.output_bias)
    norm = fitted_norm(stream.norm_before, d_model)
    return FfnView(
        keys=wide(keys),
        key_bias=_wide(key_bias),
        values=wide(added(proved, ffn.values)),
        output_bias=_wide(bias),
        gated_value=_wide(gated_value),
        gated_value_bias=_wide(gated_bias),
        phi=named(ffn.phi, ffn.gated),
        norm=norm,
        word_norm=norm or fitted_norm(stream.middle_norm, d_model),
        stages=partial(ffn_stages, proved, ()),
        write_norm=fitted_norm(stream.written_norm, d_model),
    )


@torch.no_grad()
def attention_view(heads: HeadRoles, r: float) -> AttentionView:
    """One block's heads; what they write is multiplied by r before it is added."""
    matrix, bias, _ = as_product(heads.out)
    outputs = torch.unflatten(wide(r * matrix), 0, (heads.n_heads, -1))
    return AttentionView(outputs, None if bias is None else wide(r * bias))


@torch.no_grad()
@unrecorded()
def word_head(model: Any, proof: Proof) -> WordHead | None:
    """How the last stream becomes a score for each word; None if the network computes no logits.

    It has word vectors only where the logits are seen to be s · norm(stream) · E_w + b; its norm's
    gain includes the scale s.
    """
    output = model.get_output_embeddings()
    weight = getattr(output, "weight", None)
    if not isinstance(weight, Tensor) or proof.result.shape[-1] != len(weight):
        return None
    stream, logits = rows(proof.last), wide(rows(proof.result))
    tied = weight is model.get_input_embeddings().weight
    bias = getattr(output, "bias", None)
    bias = wide(bias) if isinstance(bias, Tensor) else None
    vectors = wide(weight)
    if vectors.shape[1] != stream.shape[1]:
        return WordHead(None, None, None, tied)
    fitted = [fitted_norm(call, stream.shape[1]) for call in _final_norms(model, proof, stream)]
    for norm in (*filter(None, fitted), None):
        read = wide(stream) if norm is None else norm(wide(stream))
        products = read @ vectors.mT
        wanted = logits if bias is None else logits - bias
        s = best_multiple(products, wanted)
        s = 1.0 if abs(s - 1) < 1e-5 else s
        if error(s * products, wanted) <= 5 * TOLERANCE[stream.dtype] and (s == 1 or norm):
            if norm is not None:
                norm_bias = None if norm.bias is None else s * norm.bias
                norm = replace(norm, gain=s * norm.gain, bias=norm_bias)
            return WordHead(norm, WordVectors(vectors), bias, tied)
    return WordHead(None, None, None, tied)


def _final_norms(model: nn.Module, proof: Proof, stream: Tensor) -> list[Call]:
    """The calls of leaves behind the blocks that read the last stream and wrote one as wide."""
    inside = {module for proved in proof.blocks for module in proved.block.modules()}
    calls: list[Call] = []

    def keep(call: Call) -> None:
        if call.input.shape == call.output.shape and same(call.input, stream):
            calls.append(call)

    with ExitStack() as hooks:
        for module in model.modules():
            if module not in inside and is_leaf(module):
                watch_module(module, "", keep, hooks)
        tail(model, stream)
    return calls


@torch.no_grad()
def input_words(model: Any, proof: Proof, ids: Tensor, d_model: int) -> WordVectors | None:
    """The vectors that words enter the stream with; None if they are not as wide as the stream.

    Their scale is seen from the first stream on the probe, whose ids are (B, T).
    """
    weight = model.get_input_embeddings().weight
    if weight.shape[1] != d_model:
        return None
    table, first = wide(weight), wide(proof.embedding)
    looked_up = table[ids]
    s = best_multiple(looked_up, first)
    scaled = abs(s - 1) > 1e-3 and error(s * looked_up, first) <= TOLERANCE[weight.dtype] * 50
    return WordVectors(s * table if scaled else table)
