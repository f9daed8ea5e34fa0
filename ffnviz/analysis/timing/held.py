"""How many bytes of tensors a computation holds, operation by operation."""

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


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
