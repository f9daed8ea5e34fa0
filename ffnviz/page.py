"""What a page is made of: parts shown one at a time, and settings that are kept in the URL."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, TypeVar

import streamlit as st

from ffnviz.run import Run

T = TypeVar("T")


@dataclass(frozen=True)
class Setting(Generic[T]):
    """One thing a person can set on a page.

    Attributes:
        name: in the URL; unique among all pages.
        default: what it is until somebody sets it; not written into the URL.
        parse: the value that a URL's text means.
        text: the value as it stands in the URL.
    """

    name: str
    default: T
    parse: Callable[[str], T | None]
    text: Callable[[T], str]


def number_setting(name: str, default: float, low: float, high: float) -> Setting[float]:
    """A number from low to high; what lies outside is not taken from a URL."""

    def parse(text: str) -> float | None:
        try:
            value = float(text)
        except ValueError:
            return None
        return value if low <= value <= high else None

    return Setting(name, default, parse, "{:g}".format)


def count_setting(name: str, default: int, low: int, high: int) -> Setting[int]:
    """A whole number from low to high; what lies outside is not taken from a URL."""

    def parse(text: str) -> int | None:
        plain = text.isascii() and text.isdecimal() and len(text) < 16
        return int(text) if plain and low <= int(text) <= high else None

    return Setting(name, default, parse, str)


def choice_setting(name: str, options: Sequence[str]) -> Setting[str]:
    """One of the options; the first until somebody chooses."""
    return Setting(name, options[0], lambda text: text if text in options else None, str)


def switch_setting(name: str) -> Setting[bool]:
    """On or off; off until somebody switches."""
    return Setting(name, False, {"on": True, "off": False}.get, lambda on: "on" if on else "off")


def text_setting(name: str, default: str = "", longest: int = 500) -> Setting[str]:
    """Free text, of at most so many characters in a URL."""
    return Setting(name, default, lambda text: text if len(text) <= longest else None, str)


@dataclass(frozen=True)
class Choices:
    """What a page can ask for when somebody clicks; the page itself keeps no state.

    Attributes:
        token: choose a token by its number.
        neuron: choose a neuron by its twin and number.
        order: choose the order of the neurons.
        text: put another sentence into the box.
        meet: turn to a part of the Neurons page, by the neuron's twin and number, a token (None
            leaves the chosen one), and the part's name.
        turn: turn to a part of another page, by their names.
        setting: the text a setting has now, if any; see `value`.
        set: give a setting its text, and say whether the URL shall follow; see `choose`.
        outdated: whether somebody chose another token, neuron or sentence since the run was made.
    """

    token: Callable[[int], None]
    neuron: Callable[[str, int], None]
    order: Callable[[str], None]
    text: Callable[[str], None]
    meet: Callable[[str, int, int | None, str], None]
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
        """Set it; in the URL once it is done, so that a slider's way leaves no trail of Backs."""
        self.set(setting.name, None if value == setting.default else setting.text(value), done)

    def widget(self, setting: Setting[T]) -> dict[str, Any]:
        """The arguments that tie a Streamlit widget to a setting."""
        key = f"setting-{setting.name}"
        st.session_state[key] = self.value(setting)
        return {"key": key, "on_change": lambda: self.choose(setting, st.session_state[key])}


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
    """

    render: Callable[[Run, Choices], None]
    title: str
    name: str
    settings: tuple[Setting[Any], ...] = ()


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
