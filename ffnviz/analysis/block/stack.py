"""A stack of untrained blocks without some of their parts: its streams and its gradients."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.residual import draw_by_glorot
from ffnviz.analysis.needs import Capability, encoder_of
from ffnviz.analysis.vector_jacobian import vector_jacobian
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
    """What a stack does to the tokens, from its input (0) to the output of its last layer, L."""

    apart: NDArray[np.float64]  # told_apart of each stream, (L + 1,)
    similarity: NDArray[np.float64]  # the mean cosine between two tokens' vectors, (L + 1,)
    scale: NDArray[np.float64]  # the root mean square of the stream's entries, (L + 1,)
    # the norm that is left of a gradient of norm 1 at the chosen token's output, (L + 1,)
    gradient: NDArray[np.float64]
    # between any two tokens, at the input and at the output, (T, T) each
    cosines: tuple[NDArray[np.float64], NDArray[np.float64]]


def untrained(depth: int, activation: str, seed: int) -> list[Block]:
    """Blocks in float64, initialised as PyTorch's Transformer is."""
    config = EncoderConfig(
        n_blocks=depth, activation=activation, d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF
    )
    generator = torch.Generator().manual_seed(seed)
    with no_draws():  # half the time would be spent on weights that are replaced below
        blocks = [Block(config).double().requires_grad_(False) for _ in range(depth)]
    for block in blocks:
        draw_by_glorot(block, generator)
    return blocks


def entered(trace: ForwardPass, seed: int) -> Float[Tensor, "tokens d_model"]:
    """The stack's input: the first MOST_TOKENS of the embedding in fewer dimensions, (T, 128).

    A random projection, which nearly keeps angles, is scaled to a root mean square of 1.
    """
    embedding = trace.embedding[:MOST_TOKENS].to("cpu", torch.float64).clone()
    generator = torch.Generator().manual_seed(seed)
    shape = embedding.shape[-1], D_MODEL
    x = embedding @ torch.randn(shape, generator=generator, dtype=torch.float64)
    scaled: Tensor = x / x.square().mean().sqrt()
    return scaled


def layer(block: Block, x: Tensor, without: Collection[str]) -> Tensor:
    """One pre-LN block, (T, d_model), without some of PARTS but φ, which `untrained` leaves out."""
    for name, norm, sublayer in (
        ("attention", block.attention_norm, block.attention),
        ("ffn", block.ffn_norm, block.ffn),
    ):
        if name not in without:
            output: Tensor = sublayer(x if "norm" in without else norm(x)).output
            x = output if "residual" in without else x + output
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
        depth: layers, at least 1.
        token: whose output the gradient starts from.
        without: names among PARTS.
        activation: φ's name; unused without "phi".
        seed: of the weights.
    """
    blocks = untrained(depth, "identity" if "phi" in without else activation, seed)
    return watch([partial(layer, block, without=without) for block in blocks], x, token)


def watch(layers: list[Callable[[Tensor], Tensor]], x: Tensor, token: int) -> Stack:
    """What maps, (T, d) -> (T, d), one after the other, do to the tokens."""
    streams = [x.detach().clone().requires_grad_()]
    with torch.enable_grad():
        for apply in layers:
            streams.append(apply(streams[-1]))
        top = streams[-1][token]
        generator = torch.Generator().manual_seed(0)
        direction = torch.randn(top.shape, generator=generator, dtype=top.dtype).to(top.device)
    slopes = vector_jacobian(direction / direction.norm(), top, streams)
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
    """‖x − 1x̄ᵀ‖ / ‖x‖, Frobenius: the share of the vectors that is not common to all tokens.

    At most 1, and 0 if all are equal. Dong et al. 2021, section 2, have the same difference in
    another norm.
    """
    norm = float(x.norm())
    return float((x - x.mean(dim=0)).norm()) / norm if norm else 0.0


def _cosines(x: Tensor) -> Tensor:
    unit = x / x.norm(dim=-1, keepdim=True).clamp_min(1e-300)
    cosines: Tensor = unit @ unit.mT
    return cosines


def of_the_network(model: Network, trace: ForwardPass, token: int) -> Stack:
    """The same of the network's own trained blocks."""
    blocks = encoder_of(model).blocks
    x = trace.embedding[:MOST_TOKENS].clone()
    return watch([lambda v, b=block: b(v).output for block in blocks], x, token)  # type: ignore[misc]
