"""What a page is made of: parts shown one at a time, and settings that are kept in the URL."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import accumulate
from typing import Any, Generic, Protocol, TypeVar, cast
from urllib.parse import quote_plus

import streamlit as st

from ffnviz.run import Run

T = TypeVar("T")

ENCODED = 3  # characters of a URL that one of ASCII takes at most, as in %2C
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Setting(Generic[T]):
    """One thing a person can set on a page.

    Attributes:
        name: in the URL; unique among all pages.
        default: what it is until somebody sets it; not written into the URL.
        parse: the legal value closest to what a URL's text means; None if it means nothing.
        text: a legal value as it stands in the URL; parses back to that value.
        longest: how many characters a text box for it takes; None if it has no text box.
        also: names it had; a link to its own part may still use them.
    """

    name: str
    default: T
    parse: Callable[[str], T | None]
    text: Callable[[T], str]
    longest: int | None = None
    also: tuple[str, ...] = ()


def number_setting(name: str, default: float, low: float, high: float) -> Setting[float]:
    """A number from low to high; what lies outside becomes the nearer of the two."""

    def parse(text: str) -> float | None:
        value = _number(text)
        return None if value is None else float(min(high, max(low, value)))

    # All digits, so that it parses back to the same number; {:g} has six.
    return Setting(name, default, parse, lambda value: repr(float(value)).removesuffix(".0"))


def count_setting(
    name: str, default: int, low: int, high: int, also: tuple[str, ...] = ()
) -> Setting[int]:
    """A whole number from low to high; what lies outside becomes the nearer of the two."""

    def parse(text: str) -> int | None:
        value = _number(text)
        return None if value is None else round(min(high, max(low, value)))

    return Setting(name, default, parse, str, also=also)


def _number(text: str) -> float | None:
    # float() also reads 1_000 and ٣, which nobody's keyboard means by a number in a URL.
    if not text.isascii() or "_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def choice_setting(name: str, options: Sequence[str]) -> Setting[str]:
    """One of the options; the first until somebody chooses."""
    return Setting(name, options[0], lambda text: text if text in options else None, str)


def text_setting(
    name: str, default: str = "", longest: int = 500, room: int | None = None
) -> Setting[str]:
    """Free text, cut to so many characters and to the room it may take in a URL.

    Args:
        name: in the URL.
        default: what it is until somebody writes.
        longest: in characters.
        room: in characters of the URL; as much as the longest ASCII text may need, if None.
    """
    most = ENCODED * longest if room is None else room
    return Setting(name, default, lambda text: shortened(text, longest, most), str, longest)


def shortened(text: str, longest: int, room: int) -> str:
    """The beginning of a text, of so many characters that take so many in a URL.

    A URL writes a character as one to twelve: "a" as itself, "€" as %E2%82%AC. Lone surrogates,
    which no URL can hold, become U+FFFD.
    """
    plain = SURROGATE.sub("\ufffd", text[:longest])
    if len(quote_plus(plain)) <= room:
        return plain
    taken = accumulate(len(quote_plus(sign)) for sign in plain)
    return plain[: sum(so_far <= room for so_far in taken)]


def present_names(settings: Mapping[str, str], part: "Part") -> dict[str, str]:
    """The texts of a link to a part, with the present names of settings for former ones."""
    former = {old: setting.name for setting in part.settings for old in setting.also}
    renamed = {former[name]: text for name, text in settings.items() if name in former}
    return {**renamed, **{name: text for name, text in settings.items() if name not in former}}


class Meet(Protocol):
    """Turns to a part of the Neurons page."""

    def __call__(
        self, twin: str, neuron: int, token: int | None, part: str, block: int | None = None
    ) -> None:
        """Choose the neuron by its twin and number, and show it in the part of this name.

        A token, and a block from 0, are chosen too; None leaves the chosen one.
        """


@dataclass(frozen=True)
class Choices:
    """What a page can ask for when somebody clicks; the page itself keeps no state.

    Attributes:
        token: choose a token by its number.
        neuron: choose a neuron by its twin and number.
        order: choose the order of the neurons.
        text: put another sentence into the box.
        meet: turn to a part of the Neurons page; see `Meet`.
        turn: turn to a part of another page, by their names.
        setting: the text a setting has now, if any; see `value`.
        set: give a setting its text, and say whether the URL shall follow; see `choose`.
        outdated: whether somebody chose another token, neuron or sentence since the run was made.
    """

    token: Callable[[int], None]
    neuron: Callable[[str, int], None]
    order: Callable[[str], None]
    text: Callable[[str], None]
    meet: Meet
    turn: Callable[[str, str], None]
    setting: Callable[[str], str | None]
    set: Callable[[str, str | None, bool], None]
    outdated: Callable[[], bool]

    def value(self, setting: Setting[T]) -> T:
        """What a setting is now."""
        text = self.setting(setting.name)
        parsed = None if text is None else setting.parse(text)
        return setting.default if parsed is None else parsed

    def choose(self, setting: Setting[T], value: T, done: bool = True) -> None:
        """Set it; in the URL once it is done, so that a slider's way leaves no trail of Backs.

        A value that is not legal becomes the closest that is: a browser can send anything.
        """
        legal = None if value is None else setting.parse(setting.text(value))
        unset = legal is None or legal == setting.default
        self.set(setting.name, None if unset else setting.text(cast(T, legal)), done)

    def widget(self, setting: Setting[T]) -> dict[str, Any]:
        """The arguments that tie a Streamlit widget to a setting."""
        key = f"setting-{setting.name}"
        st.session_state[key] = self.value(setting)
        tied = {"key": key, "on_change": lambda: self.choose(setting, st.session_state[key])}
        return tied if setting.longest is None else {**tied, "max_chars": setting.longest}


def live(render: Callable[[Run, Choices], None]) -> Callable[[Run, Choices], None]:
    """A part that runs alone when a slider of its own moves.

    A click in one of its pictures may choose a token: the run it was given is then outdated, and
    everything runs.
    """

    @wraps(render)
    def shown(run: Run, choices: Choices) -> None:
        if choices.outdated():
            st.rerun()
        render(run, choices)

    return st.fragment(shown)


@dataclass(frozen=True)
class Part:
    """One screen of a page.

    Attributes:
        render: shows it.
        title: on the button that leads to it.
        name: in the URL.
        settings: what can be set on it.
        follow: sets what follows from the run, before the URL is written and the part is shown.
    """

    render: Callable[[Run, Choices], None]
    title: str
    name: str
    settings: tuple[Setting[Any], ...] = ()
    follow: Callable[[Run, Choices], None] | None = None


@dataclass(frozen=True)
class Page:
    """A page and its place in the navigation.

    Attributes:
        title: in the navigation.
        name: in the URL.
        parts: shown one at a time.
    """

    title: str
    name: str
    parts: tuple[Part, ...]

    def part(self, name: str | None) -> Part:
        """The part of that name, or the first."""
        return next((part for part in self.parts if part.name == name), self.parts[0])
