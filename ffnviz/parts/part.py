"""What a page is made of: parts shown one at a time, and what a part may ask for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import streamlit as st

from ffnviz.analysis.needs import Capability, missing
from ffnviz.parts.sheet import Sheet
from ffnviz.state.actions import OpenNeuron, OpenPage, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values
from ffnviz.state.state import Neuron, State

T = TypeVar("T")
NEURONS = "neurons"  # the page a neuron is met on


@dataclass(frozen=True)
class Navigator:
    """How a part reads what was set on it, and asks for something else.

    Attributes:
        state: what is looked at now, which may be newer than the run that is shown.
        do: has an action done; the page then follows. A slider that is still on its way says that
            it is not settled: the URL, and so Back, waits for where it stops.
        run: the run of the state; None without a sentence.
    """

    state: Callable[[], State]
    do: Callable[..., None]
    run: Callable[[], Run | None]

    def value(self, setting: Setting[T]) -> T:
        """What a setting is now."""
        text = self.state().setting(setting.name)
        return setting.default if text is None else setting.parse(text)

    def choose(self, setting: Setting[T], value: T, settled: bool = True) -> None:
        """Set it."""
        text = None if value is None else setting.text(value)  # None: a browser can send anything
        self.do(Set({setting.name: text}), settled)

    def widget(self, setting: Setting[Any]) -> dict[str, Any]:
        """The arguments that tie a Streamlit widget to a setting."""
        key = f"setting-{setting.name}"
        st.session_state[key] = self.value(setting)
        tied: dict[str, Any] = {
            "key": key,
            "on_change": lambda: self.choose(setting, st.session_state[key]),
        }
        return tied if setting.longest is None else tied | {"max_chars": setting.longest}

    def options(self, setting: Setting[str]) -> dict[str, Any]:
        """The same for a widget that offers a choice: with the options and their words."""
        return {
            "options": list(setting.options),
            "format_func": lambda option: setting.options[option],
            **self.widget(setting),
        }

    def meet(self, neuron: Neuron, part: str, token: int | None = None) -> None:
        """Turn to a part of the page that shows one neuron."""
        self.do(OpenNeuron(neuron, NEURONS, part, token))

    def turn(self, page: str, part: str) -> None:
        """Turn to a part of a page."""
        self.do(OpenPage(page, part))


Render = Callable[[Run, Navigator], None]
MakeSheet = Callable[[Run, Values], Sheet]


def live(render: Render) -> Render:
    """A part that runs alone when a slider of its own moves.

    It keeps the state and not the run, which would hold the traces for as long as the session
    lives. A click in one of its pictures may choose a token: what was around it is then outdated,
    and everything runs.
    """

    @st.fragment
    def alone(seen: State, navigator: Navigator) -> None:
        run = navigator.run()
        if run is None or navigator.state().subject != seen:
            st.rerun()
        else:
            render(run, navigator)

    @wraps(render)
    def shown(run: Run, navigator: Navigator) -> None:
        alone(run.state.subject, navigator)

    return shown


@dataclass(frozen=True)
class Part:
    """One screen of a page.

    Attributes:
        show: makes its sheet; of a part that is still drawn by hand, draws it.
        title: on the button that leads to it.
        name: in the URL.
        settings: what can be set on it.
        needs: what it needs of a network.
        follow: sets what follows from the run, before the URL is written and the part is shown.
    """

    show: MakeSheet | Render
    title: str
    name: str
    settings: tuple[Setting[Any], ...] = ()
    needs: tuple[Capability, ...] = ()
    follow: Callable[..., Any] | None = None

    @property
    def sheet(self) -> MakeSheet | None:
        """What makes its sheet; None if it is still drawn by hand."""
        return cast(MakeSheet, self.show) if self.show.__name__ == "sheet" else None

    @property
    def render(self) -> Render:
        """What draws it by hand."""
        return cast(Render, self.show)

    def missing(self, run: Run) -> tuple[Capability, ...]:
        """What the network that drives the page has not, and the part needs."""
        return missing(run.card, self.needs, partner=run.partner is not None)


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

    def part(self, name: str) -> Part:
        """The part of that name, or the first."""
        return next((part for part in self.parts if part.name == name), self.parts[0])
