"""What an FFN's activations take in memory, and what working on a few tokens at a time saves.

The FFN treats each token alone, so the tokens may go through in chunks (Kitaev et al. 2020,
"Reformer", section 3): the result is the same, and only one chunk's d_ff numbers a token exist.
"""

import copy
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ffnviz.analysis.measuring import Progress, Spread, in_turn
from ffnviz.analysis.needs import Capability, encoder_of, require
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.encoder.model import Model


class _HeldBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of the storages that operations allocate, until each is released."""

    def __init__(self, existing: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._existing = {tensor.untyped_storage()._cdata for tensor in existing}
        self._alive: set[int] = set()
        self.now: int = 0
        self.peak: int = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: to have its compiler leave this alone, PyTorch would import all of it, 1.6 s."""
        return False

    def __torch_dispatch__(
        self, func: Any, _: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self._add(leaf.untyped_storage())
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        name = storage._cdata
        if name in self._existing or name in self._alive:
            return
        self._alive.add(name)
        self.now += storage.nbytes()
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._release, name, storage.nbytes())

    def _release(self, name: int, size: int) -> None:
        self._alive.discard(name)
        self.now -= size


def peak_of(work: Callable[[], object], existing: Iterable[Tensor]) -> int:
    """The most bytes that tensors allocated by some work take at one time, its result included.

    Tensors that exist before, such as weights and inputs, do not count; what an operation needs
    inside itself is not seen.
    """
    with _HeldBytes(existing) as held:
        result = work()
        del result
    peak: int = held.peak
    return peak


def kept_for_backward(work: Callable[[], object], existing: Iterable[Tensor]) -> int:
    """The bytes of the tensors that some work keeps for its gradients, each storage once."""
    known = {tensor.untyped_storage().data_ptr() for tensor in existing}
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        result = work()
    del result
    return sum(kept.values())


NEEDS = (Capability.OURS, Capability.PLAIN_FFN)
LEAST = 8  # tokens of the smallest chunk
SEED = 29


@dataclass(frozen=True)
class Memory:
    """One FFN on T tokens, all at once and in chunks."""

    n_tokens: int  # T
    chunks: tuple[int, ...]  # tokens at a time, the most first; the first is T
    peaks: tuple[int, ...]  # bytes of all tensors at the worst moment, one a chunk size
    expected: tuple[int, ...]  # the same by arithmetic: 4 bytes a number
    times: tuple[Spread, ...]  # milliseconds, one a chunk size; none while they are measured
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
    busy = min(chunk, n_tokens) * max(2 * d_ff, d_ff + d_model)
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
    """Measure one block's FFN on random inputs of the right shape: first bytes, then times."""
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
