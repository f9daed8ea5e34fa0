"""The block frozen: what depends on the input in a block is held, until all of it is linear.

Attention's softmax weighs the tokens, LayerNorm divides by a standard deviation, and φ lets
through a share φ(z) / z of each pre-activation: for GELU that is Φ(z) (Hendrycks & Gimpel 2016,
section 2), for ReLU 0 or 1. With all three held as a sentence has them, a network is one matrix
and a bias for this sentence, and its results stay the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.lab.linearity import FACTOR, Map, Tried, frozen_parts, try_additivity, try_map
from ffnviz.analysis.spread import Progress
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.feed_forward import FeedForward

AS_IT_IS, HELD = "as it is", "attention, LN held"
NO_PHI, GATES = "and φ removed", "and φ(z)/z"
AT_ONCE = 64  # rows of the folded matrix


@dataclass(frozen=True)
class Folded:
    """A linear stack's matrix for one token's result.

    Attributes:
        off: the relative error of the one matrix against the stack step by step.
        reads: Frobenius norm of the matrix through which the token reads each token, (T,).
        shape: of the matrix.
    """

    off: float
    reads: NDArray[np.float64]
    shape: tuple[int, int]


@dataclass(frozen=True)
class Frozen:
    """A block and the whole stack, with less and less that depends on the input.

    Attributes:
        block: what is held → the tests on the chosen block.
        stack: likewise on all blocks.
        unchanged: the relative error of the last stream with all three held.
        folded: the linear stack as one matrix; None while that is made.
    """

    block: dict[str, Tried]
    stack: dict[str, Tried]
    unchanged: float
    folded: Folded | None


@torch.inference_mode(mode=False)
@torch.no_grad()
def freeze(subject: Subject, removed: bool, progress: Progress) -> Iterator[Frozen]:
    """Freeze the chosen block and the stack; then fold the linear stack for the chosen token.

    Args:
        subject: a network of ours with a plain FFN.
        removed: whether φ is removed from the stack that is folded, or held.
        progress: told the share of the folded matrix that is made.
    """
    encoder, whole = subject.own, subject.whole
    x = whole.embedding.cpu().double().clone()
    maps: list[dict[str, Map]] = []
    streams = [x]
    for block in encoder.blocks:
        maps.append(frozen_maps(block, streams[-1]))
        streams.append(block(streams[-1]).output)
    config = encoder.config
    inner = 2 * config.d_model + config.d_ff + len(x)

    def stack(kind: str) -> Map:
        def through(v: Tensor) -> Tensor:
            for of_block in maps:
                v = of_block[kind](v)
            return v

        return through

    at = subject.block
    linear = stack(NO_PHI if removed else GATES)
    frozen = Frozen(
        block={
            n: try_map(n, try_additivity(f, streams[at]), FACTOR, inner)
            for n, f in maps[at].items()
        },
        stack={
            n: try_map(n, try_additivity(stack(n), x), FACTOR, inner * len(maps)) for n in maps[at]
        },
        unchanged=_relative_error(stack(GATES)(x), streams[-1]),
        folded=None,
    )
    yield frozen
    reads, result = fold(linear, x, subject.place, progress)
    off = _relative_error(result, linear(x)[subject.place])
    yield replace(frozen, folded=Folded(off, reads.numpy(), (x.numel(), x.shape[1])))


def _relative_error(value: Tensor, expected: Tensor) -> float:
    return float((value - expected).norm() / expected.norm())


def frozen_maps(block: Block, x: Tensor) -> dict[str, Map]:
    """The block as it is, and with more and more held as the stream x, (T, d_model), has it."""
    ffn, ffn_input = block.ffn, block(x).ffn.input
    matrix = ffn.expand.weight.mT @ ffn.compress.weight.mT
    bias = ffn.compress(ffn.expand(torch.zeros_like(x[0])))
    return {
        AS_IT_IS: lambda v: block(v).output,
        HELD: _held(block, x, lambda v: ffn(v).output),
        GATES: _held(block, x, _gates_held(ffn, ffn_input)),
        NO_PHI: _held(block, x, lambda v: v @ matrix + bias),
    }


def _gates_held(ffn: FeedForward, x: Tensor) -> Map:
    """The FFN with each φ(z) / z as x has it; 0 where z is 0."""
    z = ffn.expand(x)
    gates = torch.where(z == 0, 0.0, ffn.activation.function(z) / z)
    return lambda v: ffn.compress(ffn.expand(v) * gates)


def _held(block: Block, x: Tensor, ffn: Map) -> Map:
    """The block with another map for its FFN; attention's weights and LayerNorms are held."""
    attention, attention_norm, ffn_norm = frozen_parts(block, x)

    def held(v: Tensor) -> Tensor:
        if block.norm_first:
            middle = v + attention(attention_norm(v))
            return middle + ffn(ffn_norm(middle))
        middle = attention_norm(v + attention(v))
        return ffn_norm(middle + ffn(middle))

    return held


def fold(f: Map, x: Tensor, token: int, progress: Progress) -> tuple[Tensor, Tensor]:
    """An affine map's matrix for one token's result, some rows at a time, and that result.

    Args:
        f: (T, d_model) to (T, d_model).
        x: what the matrix is applied to, (T, d_model).
        token: the token of the result.
        progress: told the share that is done.

    Returns:
        ‖M_j‖ for the matrix M_j that reads token j, (T,), and Σ_j x_j M_j + f(0), (d_model,).
    """
    d_model = x.shape[1]
    bias, squares, results = f(torch.zeros_like(x))[token], torch.zeros_like(x[:, 0]), []
    pulled = torch.func.vjp(lambda v: f(v)[token], x)[1]
    for first in range(0, d_model, AT_ONCE):
        chosen = torch.eye(d_model, dtype=x.dtype)[first : first + AT_ONCE]
        (rows,) = torch.func.vmap(pulled)(chosen)  # (rows, T, d_model)
        squares += rows.square().sum(dim=(0, 2))
        results.append((rows * x).sum(dim=(1, 2)))
        progress(min(1.0, (first + AT_ONCE) / d_model))
    return squares.sqrt(), torch.cat(results) + bias
