"""What can be set on a part of a page, and how each stands in a URL."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Setting(Generic[T]):
    """One thing a person can set. Any text whatever in a URL gives a legal value.

    Attributes:
        name: in the URL; no two settings of the house have the same.
        default: what it is until somebody sets it; not written into the URL.
        parse: the legal value that a URL's text means, or comes nearest to.
        text: the value as it stands in the URL; `parse` reads it back as it was.
        also: names it had in the past, which links may still have.
        options: for a choice, what each value is called on the page.
        longest: for a text, how many characters it has at most.
    """

    name: str
    default: T
    parse: Callable[[str], T]
    text: Callable[[T], str]
    also: tuple[str, ...] = ()
    options: Mapping[T, str] = field(default_factory=dict, hash=False)
    longest: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All names that a URL may have for it, its own first."""
        return self.name, *self.also


def number_setting(
    name: str, default: float, low: float, high: float, also: tuple[str, ...] = ()
) -> Setting[float]:
    """A number from low to high; one beyond becomes the nearest of the two."""

    def parse(text: str) -> float:
        number = _number(text)
        return default if number is None else min(max(number, low), high)

    return Setting(name, default, parse, "{:g}".format, also)


def count_setting(
    name: str, default: int, low: int, high: int, also: tuple[str, ...] = ()
) -> Setting[int]:
    """A whole number from low to high; one beyond becomes the nearest of the two."""

    def parse(text: str) -> int:
        number = _number(text)
        return default if number is None else int(min(max(number, low), high))

    return Setting(name, default, parse, str, also)


def _number(text: str) -> float | None:
    # As a person writes one: no blanks, no underscores, no digits of other scripts, no "nan".
    if not text.isascii() or set(text) - set("0123456789+-.eE"):
        return None
    try:
        number = float(f"{float(text):g}")  # as many digits as a link will hold
    except ValueError:
        return None
    return None if math.isnan(number) else number


def choice_setting(
    name: str, options: Mapping[str, str], also: tuple[str, ...] = ()
) -> Setting[str]:
    """One of the options, the first until somebody chooses.

    Args:
        name: in the URL.
        options: each one's id, which links keep for ever, and its words on the page, which may
            change. Words are read too, as links of old have them.
        also: former names.
    """
    first = next(iter(options))
    meant = {words: option for option, words in options.items()} | {o: o for o in options}
    return Setting(name, first, lambda text: meant.get(text, first), str, also, options)


def text_setting(
    name: str, default: str = "", longest: int = 500, also: tuple[str, ...] = ()
) -> Setting[str]:
    """Free text; what is longer is cut."""
    return Setting(name, default, lambda text: text[:longest], str, also, {}, longest)


