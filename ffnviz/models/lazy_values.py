"""Values that are computed on demand, and can be forgotten again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


class SharedValues(Generic[T]):
    """Values that are computed together when the first is asked for; each is handed out once."""

    def __init__(self, compute: Callable[[], Sequence[T]], held: Sequence[T] = ()) -> None:
        self._compute = compute
        self._held = dict(enumerate(held))

    def take(self, number: int) -> T:
        """One of them, which is not kept here any longer."""
        value = self._held.pop(number, None)
        if value is None:
            computed = dict(enumerate(self._compute()))
            value = computed.pop(number)
            self._held = computed
        return value

    def forget(self) -> None:
        """Let go of what was not handed out."""
        self._held = {}

    def tensors(self) -> Iterator[Tensor]:
        """The tensors that are held here."""
        for value in list(self._held.values()):
            yield from tensors_of(value)


class LazyValue(Generic[T]):
    """A value that is computed when first asked for, and held until it is forgotten.

    Two threads that ask at once may both compute it; each gets a complete, equal value.
    """

    def __init__(
        self,
        compute: Callable[[], T],
        held: T | None = None,
        source: SharedValues[Any] | None = None,  # what it is computed from, forgotten with it
    ) -> None:
        self._compute = compute
        self._held = held
        self._source = source

    def get(self) -> T:
        """The value, computed without gradients unless it is held."""
        held = self._held  # read once: another thread may forget it meanwhile
        if held is None:
            with torch.no_grad():
                held = self._compute()
            self._held = held
        return held

    @property
    def held(self) -> T | None:
        """The value if it is held, and else None; computes nothing."""
        return self._held

    def tensors(self) -> Iterator[Tensor]:
        """The tensors that are held for it now; computes nothing."""
        yield from tensors_of(self._held)
        if self._source is not None:
            yield from self._source.tensors()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value alone, if it is held: what computes it holds the network."""
        return LazyValue, (network_is_gone, self._held)

    def forget(self) -> None:
        """Let go of the value; it is computed again when asked for."""
        self._held = None
        if self._source is not None:
            self._source.forget()


def network_is_gone(*_: object) -> Any:
    """Stands for the network in a trace that was pickled or saved.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "This trace was saved or pickled without its network, and this was not computed before. "
        "Ask for it before that, or trace the text again."
    )


def compact(value: Any) -> Any:
    """A copy of a tensor that is a view of a larger storage, which would be pickled with it."""
    if isinstance(value, Tensor) and value.untyped_storage().nbytes() > value.nbytes:
        return value.clone()
    return value


def tensors_of(record: object) -> list[Tensor]:
    """The tensors that are fields of a record, or in one that is a tuple; of None, none."""
    fields = () if record is None else vars(record).values()
    values = [v for field in fields for v in (field if isinstance(field, tuple) else (field,))]
    return [value for value in values if isinstance(value, Tensor)]


def nbytes_of(tensors: Iterable[Tensor]) -> int:
    """Bytes that tensors occupy together, what they share counted once."""
    storages = [tensor.untyped_storage() for tensor in tensors]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
