"""One picture on a sheet: what the browser gets of it, and what a click on it asks for."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.payload import pack
from ffnviz.pictures.wording import Sentence, to_spans


@dataclass(frozen=True)
class Head:
    """The head of one picture; drawn by head.js inside the picture's component."""

    # plain text, numbers to stand out, and what a person typed (always shown as text)
    sentence: Sentence
    note: str  # opens notes/<note>.html, which is ours, not typed
    accent: str  # which of the palette's colours the numbers have
    besides: str = ""  # added to the sentence of a saved picture; the page shows it elsewhere
    # a quiet line below the picture, written as the sentence is; none if empty
    under: Sentence = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "spans": to_spans(self.sentence),
            "note": self.note,
            "accent": self.accent,
            "besides": self.besides,
            "under": to_spans(self.under),
        }


_PLAIN = (str, int, float, type(None))


def to_data(shown: Any, *left_out: str) -> Any:
    """As JSON values: of a dataclass all fields in order, but arrays, on_…, and those left out."""
    if isinstance(shown, Head):
        return shown.to_json()
    if isinstance(shown, list | tuple):
        return [each if isinstance(each, _PLAIN) else to_data(each) for each in shown]
    if not is_dataclass(shown):
        return shown
    return {
        name: to_data(each)
        for name, each in vars(shown).items()
        if not (name.startswith("on_") or name in left_out or isinstance(each, np.ndarray))
    }


Value = TypeVar("Value")
Limits = ParamSpec("Limits")


def event(
    ask: Callable[[Value], Any],
    read: Callable[Concatenate[Any, Limits], Value | None],
    *limits: Limits.args,
    **more: Limits.kwargs,
) -> Callable[[Any], Any]:
    """An event of a cell: `read` checks what a browser sent, `ask` gives the action for it."""

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
    """What an object has under a name; None if it has nothing there, or is not an object."""
    return value.get(name) if isinstance(value, dict) else None


def one_of(value: Any, allowed: Sequence[str]) -> str | None:
    """A text that is among the allowed ones, or None if it is anything else."""
    return value if isinstance(value, str) and value in allowed else None


def truth(value: Any) -> bool | None:
    """True or False, or None if it is anything else."""
    return value if isinstance(value, bool) else None


def texts(value: Any, n: int) -> list[str] | None:
    """So many texts, or None if it is anything else."""
    if not isinstance(value, list) or len(value) != n:
        return None
    return value if all(isinstance(each, str) for each in value) else None


def numbers(value: Any, n: int, low: float, high: float) -> list[float] | None:
    """So many numbers, each moved into a range; None if it is anything else."""
    if not isinstance(value, list) or len(value) != n:
        return None
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in value):
        return None
    # NaN, which is no number, does not equal itself.
    legal = all(each == each for each in value)
    return [float(min(high, max(low, each))) for each in value] if legal else None


@dataclass(frozen=True)
class Cell:
    """The data of one picture of shell.js, which draws it in the browser."""

    picture: str  # its name in shell.js
    key: str  # unique on its sheet
    data: Mapping[str, Any]  # JSON values
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # that go with them
    # what a person can do with it, by name: a function of what the browser sent, which may be
    # anything, to the action that it asks for, or to None if our pictures send no such value
    events: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def packed(self) -> dict[str, tuple[str, bytes]]:
        """The digest and the bytes of each array, as the browser gets it."""
        packed = {name: pack({}, {"": array}) for name, array in self.arrays.items()}
        return {name: (digest_of(content), content) for name, content in packed.items()}


def digest_of(content: bytes) -> str:
    """A short digest, the same for the same bytes."""
    return hashlib.blake2b(content, digest_size=9).hexdigest()
