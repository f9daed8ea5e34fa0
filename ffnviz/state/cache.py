"""The one cache: values that can be computed again, within a bound of bytes, for all visitors."""

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from torch import Tensor, nn

T = TypeVar("T")
DEFAULT_BYTES = 80 * 2**20


def bytes_held(value: object) -> int:
    """The bytes of the arrays, tensors, weights and texts that a value holds now, each once."""
    seen = set[int]()  # the ids of what was counted, and the addresses of its storages
    waiting = [value]
    held = 0
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, Tensor):
            storage = each.untyped_storage()  # a view keeps all of what it is a view of
            if storage.data_ptr() not in seen:
                seen.add(storage.data_ptr())
                held += storage.nbytes()
        elif isinstance(each, np.ndarray) and each.base is not None:
            waiting.append(each.base)
        elif isinstance(each, nn.Module):
            waiting += [*each.parameters(), *each.buffers()]
        elif isinstance(each, str | bytes):
            held += sys.getsizeof(each)
        elif isinstance(own := getattr(each, "nbytes", None), int):  # as an array, or a trace
            held += own
        elif isinstance(each, Mapping):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, tuple | list | set | frozenset):
            waiting += each
        elif is_dataclass(each) and not isinstance(each, type):
            waiting += [getattr(each, field.name) for field in fields(each)]
            waiting += getattr(each, "__dict__", {}).values()
    return held


class Cache:
    """A least-recently-used cache, bounded in bytes.

    A value is computed once, however many threads ask for it at the same time; those that ask for
    another do not wait. A value larger than the bound stays until the next such value, and evicts
    none of the others: all of them would have to be computed again. A value may grow after it was
    put in, as a trace does when its stages are computed: values used since are measured again
    whenever another comes in.
    """

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._usual_bytes = 0  # of all that are not larger than the bound
        self._used: set[Hashable] = set()
        self._computing: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of a key, computed if it is missing; nothing is kept if that raises."""
        value: T
        with self._lock:
            if key in self._kept:
                value = self._found(key)
                return value
            gate = self._computing.setdefault(key, threading.Lock())
        with gate:
            with self._lock:
                if key in self._kept:  # another computed it while this one waited
                    value = self._found(key)
                    return value
            return self._computed(key, compute)

    def _computed(self, key: Hashable, compute: Callable[[], T]) -> T:
        try:
            value = compute()
            with self._lock:
                self._kept[key] = value
                used = {each: self._kept[each] for each in {key, *self._used} & self._kept.keys()}
                self._used.clear()
            # Measuring goes through whole networks, so it does not hold the lock.
            sizes = {each: bytes_held(held) for each, held in used.items()}
            with self._lock:
                self._make_room(sizes)
        finally:
            with self._lock:
                self._computing.pop(key, None)
        return value

    def _found(self, key: Hashable) -> Any:
        self._kept.move_to_end(key)
        self._used.add(key)
        return self._kept[key]

    def _make_room(self, sizes: Mapping[Hashable, int]) -> None:
        for key, size in sizes.items():
            if key in self._kept:
                self._resize(key, size)
        if any(map(self._is_large, sizes)):
            for key in [key for key in self._kept if self._is_large(key)][:-1]:
                self._forget(key)
        if self._usual_bytes > self.most_bytes:
            # A value that another thread is measuring has no size yet.
            usual = [
                key for key in self._kept if self._sizes.get(key, float("inf")) <= self.most_bytes
            ]
            for key in usual:
                self._forget(key)
                if self._usual_bytes <= self.most_bytes:
                    break

    def _is_large(self, key: Hashable) -> bool:
        return self._sizes.get(key, 0) > self.most_bytes

    def _resize(self, key: Hashable, size: int) -> None:
        before = self._sizes.get(key, 0)
        self._sizes[key] = size
        for sign, n in ((-1, before), (1, size)):
            self._usual_bytes += sign * n if n <= self.most_bytes else 0

    def _forget(self, key: Hashable) -> None:
        self._resize(key, 0)
        del self._kept[key], self._sizes[key]

    @property
    def held(self) -> int:
        """The bytes that all values hold, counted anew."""
        with self._lock:
            return sum(bytes_held(value) for value in self._kept.values())

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._sizes.clear()
            self._usual_bytes = 0
            self._used.clear()
