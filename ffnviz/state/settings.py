"""Settings of the parts, and how each is written in a URL."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Generic, TypeVar
from urllib.parse import quote_plus

T = TypeVar("T")
FACTORS = 20  # beyond this ratio of the largest stop to the least, stops grow by factors
ENCODED = 3  # the most characters of a URL that an ASCII character takes, as in %2C
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Setting(Generic[T]):
    """One thing a person can set. Any text whatever in a URL gives a legal value."""

    name: str  # in the URL; no two settings have the same
    default: T  # not written into the URL
    parse: Callable[[str], T]  # the legal value that a URL's text means, or comes nearest to
    text: Callable[[T], str]  # the value as a URL has it; `parse` reads it back unchanged
    also: tuple[str, ...] = ()  # former names, which links may still have
    # for a choice, what each value is called on the page; of a tuple, each of its possible entries
    options: Mapping[T, str] = field(default_factory=dict, hash=False)
    longest: int | None = None  # for a text, how many characters it has at most
    # what a page writes before its control; without it there is none, as clicks in a picture set it
    label: str = ""
    # for a number on a slider, the values it stops at, the least first
    stops: Sequence[T] = field(default=(), hash=False)
    shown: Callable[[T], str] = str  # how a value reads
    help: str = ""  # what a page's “?” says
    example: str = ""  # the placeholder of an empty box

    def with_control(
        self,
        label: str,
        stops: Sequence[T] = (),
        shown: Callable[[T], str] = str,
        help: str = "",  # noqa: A002  # as Streamlit calls it
        example: str = "",
    ) -> "Setting[T]":
        """The same with a control: a slider for stops, a choice for options, else a box."""
        return replace(self, label=label, stops=stops, shown=shown, help=help, example=example)

    @property
    def names(self) -> tuple[str, ...]:
        """All names that a URL may have for it, its own first."""
        return self.name, *self.also


class Values:
    """The values of a part's settings: texts by name as in a URL; a missing one has its default."""

    def __init__(self, texts: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        self.texts: Mapping[str, str] = dict(texts)

    def __getitem__(self, setting: Setting[T]) -> T:
        """The value of a setting."""
        text = self.texts.get(setting.name)
        return setting.default if text is None else setting.parse(text)

    def but(self, setting: Setting[T], value: T) -> "Values":
        """The same with one value changed."""
        return Values({**self.texts, setting.name: setting.text(value)})

    def __bool__(self) -> bool:
        """Whether anything is set."""
        return bool(self.texts)

    def __repr__(self) -> str:
        """The texts, in the order of their names."""
        return repr(sorted(self.texts.items()))


def nearest(stops: Sequence[float], value: float) -> int:
    """The place of the stop closest to a value, which a link may put between two stops.

    Stops that grow by factors are compared by ratio.
    """
    least, most = min(stops), max(stops)
    if least > 0 and most > FACTORS * least and value > 0:
        stops, value = [math.log(stop) for stop in stops], math.log(value)
    return min(range(len(stops)), key=lambda at: abs(stops[at] - value))


def number_setting(
    name: str, default: float, low: float, high: float, also: tuple[str, ...] = ()
) -> Setting[float]:
    """A number, clamped to low … high."""
    # All digits, so that it parses back to the same number; {:g} has six.
    return Setting(
        name,
        default,
        lambda text: float(_within(text, default, low, high)),
        lambda value: repr(float(value)).removesuffix(".0"),
        also,
    )


def count_setting(
    name: str, default: int, low: int, high: int, also: tuple[str, ...] = ()
) -> Setting[int]:
    """A whole number, clamped to low … high."""
    return Setting(name, default, lambda text: round(_within(text, default, low, high)), str, also)


def number_slider(
    name: str, default: float, stops: Sequence[float], label: str, shown: str = "{:g}"
) -> Setting[float]:
    """A number with a slider from its least stop to its largest; `shown` is how a value reads."""
    number = number_setting(name, default, stops[0], stops[-1])
    return number.with_control(label, stops, shown.format)


def count_slider(
    name: str, default: int, stops: Sequence[int], label: str, shown: str = "{}"
) -> Setting[int]:
    """A whole number with such a slider."""
    count = count_setting(name, default, stops[0], stops[-1])
    return count.with_control(label, stops, shown.format)


def _within(text: str, default: float, low: float, high: float) -> float:
    # float() also reads 1_000 and ٣, which are not numbers in a URL.
    try:
        number = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        number = math.nan
    return default if math.isnan(number) else min(max(number, low), high)


def choice_setting(
    name: str, options: Mapping[str, str], also: tuple[str, ...] = ()
) -> Setting[str]:
    """One of the options, by default the first.

    Links keep an option's id for ever; its words on the page may change, and are read too, as old
    links have them. `also` are former names.
    """
    first = next(iter(options))
    meant = {words: option for option, words in options.items()} | {o: o for o in options}
    return Setting(name, first, lambda text: meant.get(text, first), str, also, options)


def text_setting(
    name: str,
    default: str = "",
    longest: int = 500,  # in characters
    url_length: int | None = None,  # in characters; None: what the longest ASCII text may need
    also: tuple[str, ...] = (),  # former names
) -> Setting[str]:
    """Free text, cut to so many characters, and to so many in a URL."""
    most = ENCODED * longest if url_length is None else url_length
    parse = partial(shortened, longest=longest, url_length=most)
    return Setting(name, default, parse, str, also, {}, longest)


def shortened(text: str, longest: int, url_length: int) -> str:
    """The beginning of a text, of at most so many characters, and so many in a URL.

    A URL writes a character as one to twelve: "a" as itself, "€" as %E2%82%AC. Lone surrogates,
    which no URL can hold, become U+FFFD.
    """
    plain = SURROGATE.sub("\ufffd", text[:longest])
    if len(quote_plus(plain)) <= url_length:
        return plain
    url_lengths = accumulate(len(quote_plus(sign)) for sign in plain)
    return plain[: sum(so_far <= url_length for so_far in url_lengths)]
