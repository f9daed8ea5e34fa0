"""Checks of what a browser sent: our pictures send what they show, others can send anything."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

Value = TypeVar("Value")
Limits = ParamSpec("Limits")


def event(
    ask: Callable[[Value], Any],
    read: Callable[Concatenate[Any, Limits], Value | None],
    *limits: Limits.args,
    **more: Limits.kwargs,
) -> Callable[[Any], Any]:
    """An event of a cell: `read` checks what a browser sent, `ask` gives the action for it.

    Args:
        ask: gives the action for a legal value.
        read: one of the functions below, or another that returns None for an illegal value.
        limits: further arguments of `read`.
        more: further keyword arguments of `read`.
    """

    def handle(sent: Any) -> Any:
        value = read(sent, *limits, **more)
        return None if value is None else ask(value)

    return handle


def member(value: Any, allowed: Collection[int]) -> int | None:
    """A whole number that is among the allowed ones, or None if it is anything else."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and value in allowed else None


def place(value: Any, n: int) -> int | None:
    """A whole number from 0 to n − 1, or None if it is anything else."""
    return member(value, range(n))


def entry(value: Any, name: str) -> Any:
    """What an object has under a name; None if it has nothing there, or is no object."""
    return value.get(name) if isinstance(value, dict) else None


def one_of(value: Any, allowed: Sequence[str]) -> str | None:
    """A text that is among the allowed ones, or None if it is anything else."""
    return value if isinstance(value, str) and value in allowed else None


def truth(value: Any) -> bool | None:
    """True or False, or None if it is anything else."""
    return value if isinstance(value, bool) else None


def texts(value: Any) -> list[str] | None:
    """A list of texts, or None if it is anything else."""
    legal = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return value if legal else None


def numbers(value: Any, n: int, low: float, high: float) -> list[float] | None:
    """So many numbers, each moved into a range; None if it is anything else."""
    if not isinstance(value, list) or len(value) != n or not all(map(_is_number, value)):
        return None
    return [float(min(high, max(low, each))) for each in value]


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == value  # NaN is not
