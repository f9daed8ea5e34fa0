"""What an FFN's activations take in memory, and what working on a few tokens at a time saves.

The FFN treats each token alone, so the tokens may go through in chunks (Kitaev et al. 2020,
"Reformer", section 3): the result is the same, and only one chunk's d_ff numbers a token exist.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from ffnviz.analysis.needs import Capability, encoder_of, require
from ffnviz.analysis.spread import Progress, Spread, in_turn
from ffnviz.analysis.timing.held import kept_for_backward, peak_of
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.encoder.model import Model

NEEDS = (Capability.OURS, Capability.PLAIN_FFN)
LEAST = 8  # tokens of the smallest chunk
SEED = 29


@dataclass(frozen=True)
class Memory:
    """One FFN on T tokens, all at once and in chunks."""

    n_tokens: int  # T
    chunks: tuple[int, ...]  # tokens at a time, the most first; the first is T
    # bytes of all tensors at the worst moment, the output's included, one a chunk size
    peaks: tuple[int, ...]
    expected: tuple[int, ...]  # the same by arithmetic: 4 bytes a number
    # milliseconds, one a chunk size; none while they are measured
    times: tuple[Spread, ...]
    difference: float  # the largest between the outputs of the whole and of the smallest chunks
    kept: int  # bytes that a training step keeps for the gradients, without chunks
    weights: int  # bytes of W₁, b₁, W₂, b₂


def in_chunks(ffn: FeedForward, x: Tensor, chunk: int) -> Tensor:
    """A plain FFN on x, (T, d_model), so many tokens at a time, into one output, (T, d_model)."""
    output = torch.empty_like(x)
    for first in range(0, len(x), chunk):
        rows = slice(first, first + chunk)
        output[rows] = at_once(ffn, x[rows])
    return output


def at_once(ffn: FeedForward, x: Tensor) -> Tensor:
    """A plain FFN on all tokens at once, (T, d_model) -> (T, d_model)."""
    output: Tensor = ffn.compress(ffn.activation.function(ffn.expand(x)))
    return output


def peak_by_hand(n_tokens: int, chunk: int, d_model: int, d_ff: int) -> int:
    """Bytes in float32: before φ and after it, d_ff numbers a token each; and the output.

    At once: max(2 T d_ff, T d_ff + T d_model). In chunks of c: T d_model, and the same for c.
    """
    rows = min(chunk, n_tokens)
    busy = rows * max(2 * d_ff, d_ff + d_model)
    return 4 * (busy if chunk >= n_tokens else n_tokens * d_model + busy)


def chunk_sizes(n_tokens: int) -> tuple[int, ...]:
    """Tokens at a time: all, and halves of that down to the smallest chunk."""
    chunks = [n_tokens]
    while chunks[-1] // 2 >= LEAST:
        chunks.append(chunks[-1] // 2)
    return tuple(chunks)


def memory(
    model: Model, block: int, n_tokens: int, repeats: int, progress: Progress = lambda _: None
) -> Iterator[Memory]:
    """Measure one block's FFN on random inputs of the right shape: first the bytes, then the times.

    Raises:
        NotForThisNetwork: for a gated FFN, or a network that is not ours.
    """
    require(model, NEEDS)
    ffn, sizes = encoder_of(model).blocks[block].ffn, model.sizes
    generator = torch.Generator().manual_seed(SEED)
    x = torch.randn(n_tokens, sizes.d_model, generator=generator).to(model.device)
    chunks = chunk_sizes(n_tokens)
    tasks: dict[str, Callable[[], Tensor]] = {str(n_tokens): partial(at_once, ffn, x)}
    tasks |= {str(chunk): partial(in_chunks, ffn, x, chunk) for chunk in chunks[1:]}
    inputs = [x, *ffn.parameters()]
    with torch.no_grad():
        peaks = tuple(peak_of(task, inputs) for task in tasks.values())
        difference = float((at_once(ffn, x) - in_chunks(ffn, x, chunks[-1])).abs().max())
    measured = Memory(
        n_tokens,
        chunks,
        peaks,
        tuple(peak_by_hand(n_tokens, chunk, sizes.d_model, sizes.d_ff) for chunk in chunks),
        (),
        difference,
        _kept(ffn, x),
        sum(weight.nbytes for weight in ffn.parameters()),
    )
    yield measured
    with torch.no_grad():
        times = in_turn(tasks, repeats, 1, model.device, progress)
    yield replace(measured, times=tuple(times.values()))


def _kept(ffn: FeedForward, x: Tensor) -> int:
    """What a training step keeps, measured on a copy: the model's own weights never learn."""
    with torch.inference_mode(mode=False):
        learning = copy.deepcopy(ffn).requires_grad_()
        inputs = x.clone()
        existing = [inputs, *learning.parameters()]
        return kept_for_backward(lambda: at_once(learning, inputs), existing)
