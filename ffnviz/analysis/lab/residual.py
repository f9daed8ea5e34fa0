"""Residual and LayerNorm: what is added to the stream, and where the LayerNorm should stand."""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, vjp
from torch.nn import functional as F

from ffnviz.analysis.lab.experiment import (
    LONGEST,
    Check,
    Finding,
    Result,
    Said,
    Subject,
    within_rounding,
)
from ffnviz.analysis.lab.tolerances import agreed, gamma, strays
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.neurons.memory import row_norms
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.torch_shortcuts import no_draws

P = 0.1
SEED = 19
MOST_PASSES, FEWEST_PASSES, ROWS = 400, 50, 3_200
AT_ONCE = 4  # passes: the system clears every large array before a program gets it
SHOWN = 6  # components
ENUMERATED = 12  # neurons whose 2¹² masks are all tried


@dataclass(frozen=True)
class Dropout(Result):
    """Repeated passes with dropout on one block's hidden layer."""

    n: int  # passes
    components: NDArray[np.int64]  # those of the FFN's output that vary most, (k,)
    outputs: NDArray[np.float64]  # their values at the chosen token in each pass, (n, k)
    plain: NDArray[np.float64]  # their values without dropout, (k,)
    # ‖mean of the first m passes − plain‖ / ‖plain‖ over all components, (n,)
    running: NDArray[np.float64]
    word: int  # the vocabulary's row that is likeliest without dropout
    probabilities: NDArray[np.float64]  # the word's in each pass, (n,)
    probability: float  # the word's without dropout


@dataclass(frozen=True)
class Passes:
    """Repeated passes at the chosen token."""

    outputs: Tensor  # of the FFN, (n, d_model), in float64
    probabilities: Tensor  # of the word that is likeliest without dropout, (n,), in float64
    # what is linear in the FFN's output of each probability's change, (n,): 0 on average, exactly
    linear: Tensor


@torch.no_grad()
def try_dropout(
    subject: Subject, p: float = P, seed: int = SEED, judged: Passes | None = None
) -> Dropout:
    """Drop each hidden value with probability p and divide the others by 1 − p, pass after pass.

    Srivastava et al. 2014, "inverted dropout". The verdicts do not depend on `seed`: the first is
    exact, the second has passes of its own, always the same: `judged`, if they are there already.
    """
    trace, token = subject.trace, subject.token
    judged = judged or passes(subject, p)
    shown_passes = judged if seed == SEED else passes(subject, p, seed)
    outputs, n = shown_passes.outputs, len(shown_passes.outputs)
    word, probability = _likeliest(subject)
    plain = trace.blocks[subject.block].ffn.output[token].cpu().double()
    means = outputs.cumsum(dim=0) / torch.arange(1, n + 1)[:, None]
    running = (means - plain).norm(dim=-1) / plain.norm()
    components = outputs.std(dim=0).topk(min(SHOWN, len(plain))).indices
    findings = (
        _unbiased(subject, p, n, float(running[0]), float(running[-1])),
        _prediction(judged, probability, p),
    )
    return Dropout(
        n,
        components.numpy(),
        outputs[:, components].numpy(),
        plain[components].numpy(),
        running.numpy(),
        word,
        shown_passes.probabilities.numpy(),
        probability,
        findings=findings,
    )


def _likeliest(subject: Subject) -> tuple[int, float]:
    # Computed with many rows, like the passes: one row alone is rounded in another way.
    plain = subject.trace.logits[subject.token].cpu().double().softmax(dim=-1)
    word = int(plain.argmax())
    return word, float(plain[word])


@torch.no_grad()
def passes(subject: Subject, p: float, seed: int = SEED) -> Passes:
    """Passes with dropout on the block's hidden values, fewer for a longer sentence."""
    if not 0 <= p < 1:
        raise ValueError(f"p = {p} is not allowed: it must be from 0 up to but not including 1.")
    trace, token, encoder = subject.trace, subject.token, subject.ours.encoder
    record, block = trace.blocks[subject.block], encoder.blocks[subject.block]
    # After the last block no token reads another: the chosen one is enough.
    last = subject.block == len(trace.blocks) - 1
    rows, place = (slice(token, token + 1), 0) if last else (slice(None), token)
    hidden, middle = record.ffn.hidden[rows], record.middle[rows]
    word, plain = _likeliest(subject)[0], record.ffn.output[rows]

    def probability_of(output: Tensor) -> Tensor:
        """The word's probability from the FFN's output, (n, rows, d_model) -> (n,)."""
        stream = block.add_ffn(middle.expand(len(output), -1, -1), output)
        at_token = _at_token(encoder.blocks[subject.block + 1 :], stream, place)
        return encoder.unembed(encoder.final_norm(at_token)).double().softmax(dim=-1)[:, word].cpu()

    slope = vjp(probability_of, plain[None])[1](torch.ones(1, dtype=torch.float64))[0]
    n = min(MOST_PASSES, max(FEWEST_PASSES, ROWS // len(hidden)))
    generator = torch.Generator().manual_seed(seed)
    outputs, probabilities, linear = [], [], []
    draws = torch.empty(AT_ONCE, *hidden.shape)
    for first in range(0, n, AT_ONCE):
        kept = draws[: n - first].uniform_(generator=generator).ge_(p)
        output = block.ffn.compress(_dropped(hidden, kept.to(hidden), p))
        probabilities.append(probability_of(output))
        linear.append(((output - plain) * slope).sum(dim=(1, 2)).cpu().double())
        outputs.append(output[:, place].cpu().double())
    return Passes(torch.cat(outputs), torch.cat(probabilities), torch.cat(linear))


def _at_token(blocks: Sequence[Block], stream: Tensor, token: int) -> Tensor:
    """One token's stream after the blocks: the last one's FFN runs on that token alone."""
    if not blocks:
        return stream[:, token]
    *others, last = blocks
    for block in others:
        stream = block(stream).output
    middle = last.add_attention(stream, last.attend(stream).output)[:, token]
    return last.add_ffn(middle, last.feed(middle).output)


def _dropped(hidden: Tensor, kept: Tensor, p: float) -> Tensor:
    """The kept values divided by 1 − p, the others 0, in place of `kept`.

    F.dropout takes no generator.
    """
    return kept.mul_(hidden).div_(1 - p)


def _unbiased(subject: Subject, p: float, n: int, one: float, many: float) -> Finding:
    """The mean output over every mask of the neurons that write most, weighted by probability.

    Values are dropped independently and W₂ is linear, so what holds for these neurons holds for
    all. Exact but for rounding, in float64, without random draws.
    """
    used = subject.ours.encoder.blocks[subject.block].ffn.compress
    # A copy with the same weights, as functional_call sets others for a moment.
    layer = copy.deepcopy(used, {id(each): each for each in used.parameters()})
    hidden = subject.trace.blocks[subject.block].ffn.hidden[subject.token].cpu().double()
    norms = row_norms(layer.weight.mT).cpu()
    chosen = (hidden.abs() * norms).topk(min(ENUMERATED, len(hidden))).indices
    values, weight = hidden[chosen], layer.weight.cpu()[:, chosen].double()
    weights = {"weight": weight}
    if layer.bias is not None:
        weights["bias"] = layer.bias.cpu().double()

    def compress(rows: Tensor) -> Tensor:
        output: Tensor = functional_call(layer, weights, rows)
        return output

    k = len(chosen)
    kept = torch.tensor(list(product((1.0, 0.0), repeat=k)), dtype=hidden.dtype)  # (2ᵏ, k)
    probabilities = (kept * (1 - p) + (1 - kept) * p).prod(dim=-1)
    mean = probabilities @ compress(_dropped(values, kept, p))
    off = (mean - compress(values)).abs()
    # A product with W₂ twice, k factors of a probability, and a term for each mask.
    size = values.abs() @ weight.abs().mT + weights.get("bias", torch.zeros(())).abs()
    allowed = 2 * gamma(2**k + 4 * k, hidden.dtype) * size
    return Finding(
        "On average, dropout leaves the FFN's output unchanged.",
        "the mean over all masks is the output without dropout, up to rounding",
        f"over all {2**k:,} masks of the {k} neurons that write most, W₂'s mean output differs by "
        f"{short(float(off.max()))}; one pass is off by {one:.0%} of the output's length, "
        f"the mean of {n} passes by {many:.1%}",
        within_rounding(off, allowed),
    ).by_construction("what is kept is divided by the share that is kept")


def _prediction(passes: Passes, plain: float, p: float) -> Finding:
    """The passes can refute the claim, but seeing no difference proves nothing.

    Dropout leaves the FFN's output unchanged on average, and so what is linear in it: taken out of
    each pass, it leaves the mean as it is and the scatter far smaller (a control variate).
    """
    n, kept = len(passes.probabilities), passes.probabilities - passes.linear
    error = float(kept.std()) / math.sqrt(n) + float(torch.finfo(torch.float32).eps)
    mean = float(kept.mean())
    return Finding(
        "On average, dropout leaves the prediction unchanged, too.",
        "the same probability, but for chance",
        f"in {n} passes (the same ones every time), the likeliest word has {mean:.2%} on average, "
        f"and {plain:.2%} without dropout: {abs(mean - plain) / error:.1f} standard errors apart "
        "(what is linear in the FFN's output averages to 0, and is left out)",
        Check(abs(mean - plain) / error, "≤", strays(), "standard errors"),
        untestable="" if p else "at p = 0 nothing is dropped",
        unproved=f"{n} passes saw no difference, which does not prove that there is none",
        said=Said.PEOPLE,
    )


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


def try_residual(
    subject: Subject, depth: int = DEPTH, progress: Progress = lambda _: None
) -> Residual:
    """Norms and cosines of the stream; gradients of stacks of `depth` untrained blocks."""
    rows: dict[str, list[NDArray[np.float64]]] = {"pre-LN": [], "post-LN": []}
    for place, seed in enumerate(SEEDS):
        for name, slopes in rows.items():
            slopes.append(_gradients(subject, name.removesuffix("-LN"), depth, seed))
        progress((place + 1) / len(SEEDS))
    gradients = {name: np.stack(slopes) for name, slopes in rows.items()}
    added, cosines = added_to_stream(subject)
    findings = (_only_added(subject), *_norm_findings(gradients), _bottleneck(subject))
    return Residual(added, cosines, gradients, findings=findings)


@torch.no_grad()
def added_to_stream(subject: Subject) -> tuple[Stacks, NDArray[np.float64]]:
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

    The loss is the cross-entropy of all of this sentence's tokens, with none hidden.
    """
    own = subject.ours.encoder.config
    config = EncoderConfig(
        vocab_size=own.vocab_size,
        max_tokens=own.max_tokens,
        n_blocks=depth,
        activation=own.activation,
        norm=norm,
        d_model=D_MODEL,
        n_heads=N_HEADS,
        d_ff=D_FF,
    )
    with no_draws():  # the weights follow
        encoder = Encoder(config)
    # The same seed gives pre-LN and post-LN the same weights.
    draw_by_glorot(encoder, torch.Generator().manual_seed(seed))
    ids = subject.trace.ids[:LONGEST].cpu().clone()
    with torch.enable_grad():
        loss = F.cross_entropy(encoder(ids).logits, ids)
        slopes = torch.autograd.grad(loss, [block.ffn.compress.weight for block in encoder.blocks])
    return np.array([float(slope.norm()) for slope in slopes])


def draw_by_glorot(network: nn.Module, generator: torch.Generator) -> None:
    """Draw new layers' weights by Glorot's rule (2010), embeddings with variance 1 / d_model."""
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
    written = [part for block in blocks for part in (block.attention.output, block.ffn.output)]
    terms = torch.stack([part.cpu().double() for part in (blocks[0].input, *written)])
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
    stacks = f"{n} draws of {depth} untrained blocks"
    return (
        Finding(
            "Before training, the last block's gradient is larger with post-LN than with pre-LN.",
            "larger; theorem 1 proves two upper bounds, of which only pre-LN's "
            "falls with the depth",
            f"{stacks}: larger in {int((larger > 0).sum())}; on average "
            f"{last['post-LN'].mean():.2f} with post-LN, {last['pre-LN'].mean():.2f} with pre-LN",
            Check(float(larger.min()), ">", 0.0),
            untestable=agreed(larger),
            scope=INITIAL,
        ).cited("Xiong et al. 2020"),
        Finding(
            "Before training, gradients are more even over the blocks with pre-LN.",
            "a smaller ratio of the largest to the smallest block gradient",
            f"{stacks}: more even in {int((evener > 0).sum())}; on average the largest is "
            f"{short(float(uneven['pre-LN'].mean()))} times the smallest with pre-LN, "
            f"{short(float(uneven['post-LN'].mean()))} times with post-LN",
            Check(float(evener.min()), ">", 0.0),
            untestable="it takes two blocks" if depth < 2 else agreed(evener),
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
    waist = max(1, d // WAIST)
    narrow = d * waist + 9 * waist * waist + waist * d  # convolutions 1 × 1, 3 × 3 and 1 × 1
    return Finding(
        "An FFN is built like a bottleneck block of a ResNet, a network for images.",
        "a waist narrower than what goes in and out",
        f"the FFN is {d:,} → {f:,} → {d:,} with {weights:,} weights; a bottleneck of the same "
        f"outer width is {d:,} → {waist:,} → {waist:,} → {d:,} with {narrow:,}; both have matrices "
        "that work on one place alone and a φ between, and both add to a stream",
        Check(f, "≤", d, words=("narrow in the middle, too", "wide in the middle, not narrow")),
        "it is turned inside out: MobileNetV2's inverted bottleneck is wide in the middle, too",
        Check(d, "≤", f - 1, words=("wide in the middle", "not wide in the middle")),
        said=Said.PEOPLE,
    )
