"""A stack of untrained blocks with parts taken away: what becomes of the tokens and gradients."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from ffnviz.analysis.needs import Capability, encoder_of
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.network import Network
from ffnviz.models.random_init import no_draws
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.OURS,)
PARTS = ("attention", "ffn", "residual", "norm", "phi")
D_MODEL, N_HEADS, D_FF = 128, 4, 512
DEEPEST, DEPTH = 24, 12
MOST_TOKENS = 40
SEEDS = 20


@dataclass(frozen=True, eq=False)
class Stack:
    """What a stack does to the tokens, from its input (0) to the output of its last layer."""

    # how much of the tokens' vectors tells them apart, as a share, (L + 1,): 1 at most, 0 if all
    # are equal
    apart: NDArray[np.float64]
    similarity: NDArray[np.float64]  # the mean cosine between two tokens' vectors, (L + 1,)
    scale: NDArray[np.float64]  # the root mean square of the stream's entries, (L + 1,)
    # of a gradient of length 1 at the chosen token's output, what arrives, (L + 1,)
    gradient: NDArray[np.float64]
    # between any two tokens, at the input and at the output, (T, T) each
    cosines: tuple[NDArray[np.float64], NDArray[np.float64]]


def untrained(depth: int, activation: str, seed: int) -> list[Block]:
    """Blocks in float64 with weights by Glorot's rule (2010), as PyTorch's Transformer has them."""
    config = EncoderConfig(
        n_blocks=depth, activation=activation, d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF
    )
    generator = torch.Generator().manual_seed(seed)
    with no_draws():  # half the time would be spent on weights that are replaced below
        blocks = [Block(config).double().requires_grad_(False) for _ in range(depth)]
    for module in (module for block in blocks for module in block.modules()):
        if isinstance(module, nn.Linear):
            nn.init.xavier_normal_(module.weight, generator=generator)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
    return blocks


def entered(trace: ForwardPass, seed: int) -> Float[Tensor, "tokens d_model"]:
    """The sentence as a stack reads it, (T, 128): the network's embedding in fewer dimensions.

    It is projected by a random matrix, which keeps angles about as they are, and brought to a root
    mean square of 1. Of a longer text the first MOST_TOKENS.
    """
    embedding = trace.embedding[:MOST_TOKENS].to("cpu", torch.float64).clone()
    generator = torch.Generator().manual_seed(seed)
    shape = embedding.shape[-1], D_MODEL
    x = embedding @ torch.randn(shape, generator=generator, dtype=torch.float64)
    entering: Tensor = x / x.square().mean().sqrt()
    return entering


def layer(block: Block, x: Tensor, without: Collection[str]) -> Tensor:
    """One pre-LN block, (T, d_model), without some of PARTS; φ is taken away when it is made."""
    sublayers: list[tuple[str, nn.Module, nn.Module]] = [
        ("attention", block.attention_norm, block.attention),
        ("ffn", block.ffn_norm, block.ffn),
    ]
    for name, norm, sublayer in sublayers:
        if name in without:
            continue
        written: Tensor = sublayer(x if "norm" in without else norm(x)).output
        x = written if "residual" in without else x + written
    return x


def strip(
    x: Float[Tensor, "tokens d_model"],
    depth: int,
    token: int,
    without: Collection[str],
    activation: str,
    seed: int,
) -> Stack:
    """A stack of so many untrained layers without some of PARTS, on a sentence.

    Args:
        x: from `entered`.
        depth: layers, from 1 on.
        token: whose output the gradient starts from.
        without: names among PARTS.
        activation: φ's name, as long as it is not taken away.
        seed: of the weights.
    """
    blocks = untrained(depth, "identity" if "phi" in without else activation, seed)
    return watch([lambda v, b=block: layer(b, v, without) for block in blocks], x, token)  # type: ignore[misc]


def watch(layers: list[Callable[[Tensor], Tensor]], x: Tensor, token: int) -> Stack:
    """What so many maps, (T, d) -> (T, d), one after the other, do to the tokens."""
    streams = [x.detach().clone().requires_grad_()]
    with torch.enable_grad():
        for each in layers:
            streams.append(each(streams[-1]))
        top = streams[-1][token]
        generator = torch.Generator().manual_seed(0)
        direction = torch.randn(top.shape, generator=generator, dtype=top.dtype).to(top.device)
        slopes = torch.autograd.grad(top, streams, direction / direction.norm())
    values = [stream.detach().cpu().double() for stream in streams]
    cosines = [_cosines(value) for value in values]
    n = len(x)
    pairs = n * (n - 1)
    return Stack(
        np.array([told_apart(value) for value in values]),
        np.array([float(c.sum() - c.trace()) / pairs if pairs else 1.0 for c in cosines]),
        np.array([float(value.square().mean().sqrt()) for value in values]),
        np.array([float(slope.norm()) for slope in slopes]),
        (cosines[0].numpy(), cosines[-1].numpy()),
    )


def told_apart(x: Float[Tensor, "tokens d_model"]) -> float:
    """‖x − 1x̄ᵀ‖ / ‖x‖, Frobenius: how much of the tokens' vectors is not common to them all.

    Dong et al. 2021, section 2, have the same difference in another norm.
    """
    whole = float(x.norm())
    return float((x - x.mean(dim=0)).norm()) / whole if whole else 0.0


def _cosines(x: Tensor) -> Tensor:
    unit = x / x.norm(dim=-1, keepdim=True).clamp_min(1e-300)
    cosines: Tensor = unit @ unit.mT
    return cosines


def of_the_network(model: Network, trace: ForwardPass, token: int) -> Stack:
    """The same of the network's own blocks, as they were trained."""
    blocks = encoder_of(model).blocks
    x = trace.embedding[:MOST_TOKENS].clone()
    return watch([lambda v, b=block: b(v).output for block in blocks], x, token)  # type: ignore[misc]
