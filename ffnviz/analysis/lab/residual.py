"""Residual and LayerNorm: what is added to the stream, and where the LayerNorm should stand."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as F

from ffnviz.analysis.lab.experiment import Check, Finding, Subject
from ffnviz.analysis.spread import Progress
from ffnviz.model.config import EncoderConfig
from ffnviz.model.encoder import initial_encoder
from ffnviz.numbers import short

DEPTH, DEEPEST = 12, 24
SEED = 13
D_MODEL, N_HEADS, D_FF = 128, 4, 512


@dataclass(frozen=True)
class Residual:
    """The stream of this sentence, and two untrained stacks.

    Attributes:
        added: for "attention 1", "FFN 1", …: ‖what it adds‖ / ‖the stream it is added to‖, (T,).
        cosines: between each block's input and output, (n_blocks, T).
        gradients: "pre-LN" and "post-LN" → the gradient's norm at each layer's W₂, (depth,).
        findings: the verdicts.
    """

    added: dict[str, NDArray[np.float64]]
    cosines: NDArray[np.float64]
    gradients: dict[str, NDArray[np.float64]]
    findings: tuple[Finding, ...]


def try_residual(
    subject: Subject,
    depth: int = DEPTH,
    progress: Progress = lambda _: None,
) -> Residual:
    """Norms and cosines of the twin's stream; gradients of a stack of `depth` untrained blocks."""
    added, cosines = _added(subject)
    gradients = {}
    for place, norm in enumerate(("pre", "post")):
        gradients[f"{norm}-LN"] = _gradients(subject, norm, depth)
        progress((place + 1) / 2)
    findings = (*_stream_findings(added, cosines), *_norm_findings(gradients))
    return Residual(added, cosines, gradients, findings)


@torch.inference_mode()
def _added(subject: Subject) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    added, cosines = {}, []
    for number, block in enumerate(subject.trace.blocks, start=1):
        x, middle, y = (each.cpu().double() for each in (block.input, block.middle, block.output))
        attention, ffn = block.attention.output.cpu().double(), block.ffn.output.cpu().double()
        added[f"attention {number}"] = (attention.norm(dim=-1) / x.norm(dim=-1)).numpy()
        added[f"FFN {number}"] = (ffn.norm(dim=-1) / middle.norm(dim=-1)).numpy()
        cosines.append(F.cosine_similarity(x, y, dim=-1).numpy())
    return added, np.array(cosines)


def _gradients(subject: Subject, norm: str, depth: int) -> NDArray[np.float64]:
    """‖∂ loss / ∂ W₂‖ of each layer before any training (Xiong et al. 2020, section 3.3).

    The loss is the cross-entropy of this sentence's tokens at the output, as in training; weights
    start as there, by Glorot's rule.
    """
    own = subject.model.encoder.config
    config = EncoderConfig(
        vocab_size=own.vocab_size, max_tokens=own.max_tokens, n_blocks=depth,
        activation=own.activation, norm=norm, d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF,
    )  # fmt: skip
    encoder = initial_encoder(config, SEED)
    generator = _seeded()
    for block in encoder.blocks:
        for module in block.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_normal_(module.weight, generator=generator)
    nn.init.normal_(encoder.token_embedding.weight, std=config.d_model**-0.5, generator=_seeded())
    ids = subject.trace.ids.cpu().clone()
    with torch.enable_grad():
        loss = F.cross_entropy(encoder(ids).logits, ids)
        weights = [block.ffn.compress.weight for block in encoder.blocks]
        slopes = torch.autograd.grad(loss, weights)
    return np.array([float(slope.norm()) for slope in slopes])


def _seeded() -> torch.Generator:
    return torch.Generator().manual_seed(SEED)


def _stream_findings(
    added: dict[str, NDArray[np.float64]], cosines: NDArray[np.float64]
) -> tuple[Finding, ...]:
    most = max(added, key=lambda name: float(added[name].max()))
    last = list(added)[-1]
    return (
        Finding(
            "What a sub-layer adds is shorter than the stream it is added to, at every token.",
            "ratios below 1",
            f"the largest ratio is {float(added[most].max()):.2f} ({most}); "
            f"{last}: {float(added[last].mean()):.2f} on average",
            Check(float(added[most].max()), "≤", 1.0, "times its length"),
        ),
        Finding(
            "A block keeps more of its input's direction than it changes, at every token.",
            "an angle below 45°, a cosine above 0.71",
            "the smallest cosine between input and output is "
            + ", ".join(f"{row.min():.2f} (block {k})" for k, row in enumerate(cosines, start=1)),
            Check(float(cosines.min()), ">", math.sqrt(0.5)),
        ),
    )


def _norm_findings(gradients: dict[str, NDArray[np.float64]]) -> tuple[Finding, ...]:
    uneven = {name: float(slopes.max() / slopes.min()) for name, slopes in gradients.items()}
    last = {name: float(slopes[-1]) for name, slopes in gradients.items()}
    depth = len(gradients["pre-LN"])
    return (
        Finding(
            "Before training, the last layer's gradient is larger with post-LN than with pre-LN.",
            "larger, and the more so the deeper the stack (Xiong et al. 2020, theorem 1)",
            f"{depth} untrained layers: {last['post-LN']:.2f} with post-LN, "
            f"{last['pre-LN']:.2f} with pre-LN",
            Check(last["post-LN"], ">", last["pre-LN"]),
        ),
        Finding(
            "Before training, gradients are more even over the layers with pre-LN.",
            "a smaller ratio of the largest to the smallest layer's",
            f"{depth} untrained layers: the largest is {short(uneven['pre-LN'])} times the "
            f"smallest with pre-LN, {short(uneven['post-LN'])} times with post-LN",
            Check(uneven["post-LN"], ">", uneven["pre-LN"]),
            untestable="it takes two layers" if depth < 2 else "",
        ),
    )
