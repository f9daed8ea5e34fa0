"""What a page is made of: parts shown one at a time, each a sheet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ffnviz.analysis.needs import Capability
from ffnviz.parts.sheet import Sheet
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values

NEURONS = "neurons"  # the page a neuron is met on
FURTHER = " ★"  # after the name of what is beyond a first course


@dataclass(frozen=True)
class Part:
    """One screen of a page."""

    sheet: Callable[[Run, Values], Sheet]  # a pure function of the run and of what is set
    title: str  # on the button that leads to it
    name: str  # in the URL
    settings: tuple[Setting[Any], ...] = ()
    needs: tuple[Capability, ...] = ()  # of a network
    # settings that follow from the run, to be set before the URL is written and the part is shown
    follow: Callable[[Run, Values], Set | None] | None = None
    line: str = ""  # what one sees there, in at most forty characters; below the title in the list
    further: bool = False  # beyond a first course: “Next” passes over it
    ways: tuple[tuple[Capability, ...], ...] = ()  # needs of each view besides; one view is enough

    def missing(self, run: Run) -> tuple[Capability, ...]:
        """What the part needs and the network that drives the page lacks."""
        lacking = [
            tuple(need for need in (*self.needs, *way) if need not in run.capabilities)
            for way in self.ways or ((),)
        ]
        return lacking[0] if all(lacking) else ()


@dataclass(frozen=True)
class Page:
    """A page of the navigation."""

    title: str  # in the navigation
    name: str  # in the URL
    parts: tuple[Part, ...]  # shown one at a time

    def part(self, name: str) -> Part:
        """The part of that name, or the first."""
        return next((part for part in self.parts if part.name == name), self.parts[0])
