"""Residual and LayerNorm: what is added to the stream, and where the LayerNorm should stand."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as F

from ffnviz.analysis.lab.chance import agreed
from ffnviz.analysis.lab.claims import with_claims
from ffnviz.analysis.lab.experiment import (
    LONGEST,
    Check,
    Finding,
    Result,
    Said,
    Subject,
    within_rounding,
)
from ffnviz.analysis.lab.rounding import gamma
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.random_init import no_draws

DEPTH, DEEPEST = 8, 24
SEEDS = tuple(range(13, 23))
D_MODEL, N_HEADS, D_FF = 64, 4, 256
INITIAL = f"with weights drawn by Glorot's rule and d_model = {D_MODEL}"
WAIST = 4  # how many times narrower a bottleneck is inside: He et al. 2016, figure 5, right

Stacks = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Residual(Result):
    """The stream of this sentence, and gradients of two kinds of untrained stacks."""

    # "attention 1", "FFN 1" and so on → ‖its output‖ / ‖the stream that is added to‖, (T,)
    added: dict[str, NDArray[np.float64]]
    cosines: NDArray[np.float64]  # between each block's input and output, (n_blocks, T)
    # "pre-LN" and "post-LN" → the gradient's norm at each layer's W₂, (n_seeds, depth)
    gradients: Stacks


def stacks(subject: Subject, depth: int, progress: Progress = lambda _: None) -> Stacks:
    """`Residual.gradients`: both kinds of stack, initialised with each of SEEDS."""
    rows: dict[str, list[NDArray[np.float64]]] = {"pre-LN": [], "post-LN": []}
    for place, seed in enumerate(SEEDS):
        for name, slopes in rows.items():
            slopes.append(_gradients(subject, name.removesuffix("-LN"), depth, seed))
        progress((place + 1) / len(SEEDS))
    return {name: np.stack(slopes) for name, slopes in rows.items()}


@with_claims
def try_residual(
    subject: Subject,
    depth: int = DEPTH,
    progress: Progress = lambda _: None,
    gradients: Stacks | None = None,
) -> Residual:
    """Norms and cosines of the stream; gradients of stacks of `depth` untrained blocks.

    `gradients` are those of `stacks`, if they were computed before.
    """
    added, cosines = added_to_stream(subject)
    gradients = gradients or stacks(subject, depth, progress)
    findings = (
        _only_added(subject), *_norm_findings(gradients), _bottleneck(subject),
    )  # fmt: skip
    return Residual(added, cosines, gradients, findings=findings)


@torch.no_grad()
def added_to_stream(
    subject: Subject,
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    """What each attention and FFN adds, over the stream's length there, (T,) each; and cosines."""
    added, cosines = {}, []
    for number, block in enumerate(subject.trace.blocks, start=1):
        x, middle, y = (each.cpu().double() for each in (block.input, block.middle, block.output))
        attention, ffn = block.attention.output.cpu().double(), block.ffn.output.cpu().double()
        added[f"attention {number}"] = (attention.norm(dim=-1) / x.norm(dim=-1)).numpy()
        added[f"FFN {number}"] = (ffn.norm(dim=-1) / middle.norm(dim=-1)).numpy()
        cosines.append(F.cosine_similarity(x, y, dim=-1).numpy())
    return added, np.array(cosines)


def _gradients(subject: Subject, norm: str, depth: int, seed: int) -> NDArray[np.float64]:
    """‖∂ loss / ∂ W₂‖ of each layer before any training (Xiong et al. 2020, section 3.3).

    The loss is the cross-entropy of all of this sentence's tokens with none hidden, where training
    hides some and predicts these alone. Weights start by Glorot's rule, as in the paper.
    """
    own = subject.ours.encoder.config
    config = EncoderConfig(
        vocab_size=own.vocab_size, max_tokens=own.max_tokens, n_blocks=depth,
        activation=own.activation, norm=norm, d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF,
    )  # fmt: skip
    with no_draws():  # the weights follow
        encoder = Encoder(config)
    # The same seed gives pre-LN and post-LN the same weights.
    draw_by_glorot(encoder, torch.Generator().manual_seed(seed))
    ids = subject.trace.ids[:LONGEST].cpu().clone()
    with torch.enable_grad():
        loss = F.cross_entropy(encoder(ids).logits, ids)
        weights = [block.ffn.compress.weight for block in encoder.blocks]
        slopes = torch.autograd.grad(loss, weights)
    return np.array([float(slope.norm()) for slope in slopes])


def draw_by_glorot(network: nn.Module, generator: torch.Generator) -> None:
    """Draw the weights of new layers by Glorot's rule (2010), as PyTorch's Transformer does.

    Embeddings, which that has none of, get a variance of 1 / d_model.
    """
    for module in network.modules():
        if isinstance(module, nn.LayerNorm):
            module.reset_parameters()
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5, generator=generator)
        elif isinstance(module, nn.Linear):
            nn.init.xavier_normal_(module.weight, generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


@torch.no_grad()
def _only_added(subject: Subject) -> Finding:
    """The last stream against the sum of the embedding and all that was written."""
    blocks = subject.trace.blocks
    parts = [blocks[0].input] + [
        part for block in blocks for part in (block.attention.output, block.ffn.output)
    ]
    terms = torch.stack([part.cpu().double() for part in parts])  # (1 + 2 n_blocks, T, d_model)
    end = blocks[-1].output
    off = (end.cpu().double() - terms.sum(dim=0)).abs()
    allowed = gamma(len(terms), end.dtype) * terms.abs().sum(dim=0)
    return Finding(
        "Nothing in the stream is replaced: every attention and every FFN only adds to it.",
        "the stream at the end is the embedding plus all that was written, up to rounding",
        f"after {len(blocks)} block{'s' * (len(blocks) > 1)} the stream differs from that sum by "
        f"at most {short(float(off.max()))}, and its numbers reach {short(float(end.abs().max()))}",
        within_rounding(off, allowed),
    ).by_construction("a block is written as x + attention, then + FFN")


def _norm_findings(gradients: Stacks) -> tuple[Finding, ...]:
    """Both claims over all draws of the initial weights, which must agree."""
    uneven = {name: rows.max(axis=1) / rows.min(axis=1) for name, rows in gradients.items()}
    last = {name: rows[:, -1] for name, rows in gradients.items()}
    n, depth = gradients["pre-LN"].shape
    larger = last["post-LN"] - last["pre-LN"]
    evener = uneven["post-LN"] - uneven["pre-LN"]
    stacks = f"{n} draws of {depth} untrained layers"
    return (
        Finding(
            "Before training, the last layer's gradient is larger with post-LN than with pre-LN.",
            "larger; theorem 1 proves two upper bounds, of which only pre-LN's "
            "falls with the depth",
            f"{stacks}: larger in {int((larger > 0).sum())}; on average "
            f"{last['post-LN'].mean():.2f} with post-LN, {last['pre-LN'].mean():.2f} with pre-LN",
            Check(float(larger.min()), ">", 0.0),
            untestable=agreed(larger),
            scope=INITIAL,
        ).cited("Xiong et al. 2020"),
        Finding(
            "Before training, gradients are more even over the layers with pre-LN.",
            "a smaller ratio of the largest to the smallest layer's",
            f"{stacks}: more even in {int((evener > 0).sum())}; on average the largest is "
            f"{short(float(uneven['pre-LN'].mean()))} times the smallest with pre-LN, "
            f"{short(float(uneven['post-LN'].mean()))} times with post-LN",
            Check(float(evener.min()), ">", 0.0),
            untestable="it takes two layers" if depth < 2 else agreed(evener),
            scope=INITIAL,
        ).cited("Xiong et al. 2020"),
    )


def _bottleneck(subject: Subject) -> Finding:
    """The FFN against a ResNet's bottleneck of the same outer width.

    MobileNetV2's inverted bottleneck (Sandler et al. 2018) is wide in the middle, as the FFN is.
    """
    config = subject.ours.encoder.config
    d, f = config.d_model, config.d_ff
    ffn = subject.ours.encoder.blocks[subject.block].ffn
    weights = sum(weight.numel() for weight in ffn.parameters() if weight.dim() > 1)
    widths = bottleneck(d)
    narrow = f"{' → '.join(f'{width:,}' for width in widths)} with {bottleneck_weights(widths):,}"
    return Finding(
        "An FFN is built like a bottleneck block of a ResNet.",
        "a waist narrower than what goes in and out",
        f"the FFN is {d:,} → {f:,} → {d:,} with {weights:,} weights, a bottleneck as wide outside "
        f"{narrow}; both have 1 × 1 maps, a φ between them, and add to a stream",
        Check(f, "≤", d, words=("narrow in the middle, too", "wide in the middle, not narrow")),
        "it is turned inside out: MobileNetV2's inverted bottleneck is wide in the middle, too",
        Check(d, "≤", f - 1, words=("wide in the middle", "not wide in the middle")),
        said=Said.PEOPLE,
    )


def bottleneck(width: int) -> tuple[int, int, int, int]:
    """The widths of a ResNet's bottleneck from its outer width."""
    waist = max(1, width // WAIST)
    return width, waist, waist, width


def bottleneck_weights(widths: tuple[int, int, int, int]) -> int:
    """The weights of its three convolutions: 1 × 1, 3 × 3 and 1 × 1."""
    wide, narrow, same, out = widths
    return wide * narrow + 9 * narrow * same + same * out
