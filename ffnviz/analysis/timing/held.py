"""What a computation holds in memory: the bytes of all tensors, operation by operation."""

import weakref
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

R = TypeVar("R")


class _Held(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the storages that operations make, until nobody refers to them any more."""

    def __init__(self, there: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._there = {tensor.untyped_storage()._cdata for tensor in there}
        self._alive: set[int] = set()
        self.now: int = 0
        self.peak: int = 0

    def __torch_dispatch__(
        self, func: Any, _: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self._note(leaf.untyped_storage())
        return result

    def _note(self, storage: torch.UntypedStorage) -> None:
        name = storage._cdata
        if name in self._there or name in self._alive:
            return
        self._alive.add(name)
        self.now += storage.nbytes()
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._gone, name, storage.nbytes())

    def _gone(self, name: int, size: int) -> None:
        self._alive.discard(name)
        self.now -= size


def peak_of(work: Callable[[], object], there: Iterable[Tensor]) -> int:
    """The most bytes that tensors made by some work take at one time, its result included.

    What an operation needs inside itself is not seen.

    Args:
        work: what to run.
        there: tensors that are there before, such as weights and inputs; they do not count.
    """
    with _Held(there) as held:
        result = work()
        del result
    peak: int = held.peak
    return peak


def kept_for_backward(work: Callable[[], object], there: Iterable[Tensor]) -> int:
    """The bytes of the tensors that some work keeps for its gradients, each storage once."""
    known = {tensor.untyped_storage().data_ptr() for tensor in there}
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
