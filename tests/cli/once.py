"""What takes seconds and comes out the same is computed once for all commands that ask for it."""

from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")


def once(work: Callable[..., T], asked: Callable[..., Hashable]) -> Callable[..., T]:
    """The same function, which keeps a result for each thing asked."""
    known: dict[Hashable, T] = {}

    def kept(*given: object) -> T:
        key = asked(*given)
        if key not in known:
            known[key] = work(*given)
        return known[key]

    return kept
