"""What a page is made of: parts shown one at a time, each a sheet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ffnviz.analysis.needs import Capability, missing
from ffnviz.parts.sheet import Sheet
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values

NEURONS = "neurons"  # the page a neuron is met on


@dataclass(frozen=True)
class Part:
    """One screen of a page.

    Attributes:
        sheet: makes what is shown of a run, with what is set on the part: a pure function.
        title: on the button that leads to it.
        name: in the URL.
        settings: what can be set on it.
        needs: what it needs of a network.
        ways: what each of its views needs besides; it can be shown where one can.
        line: what one sees there, in at most forty characters; below the title in the list.
        follow: what follows from the run, to be set before the URL is written and the part is
            shown; None if nothing does.
    """

    sheet: Callable[[Run, Values], Sheet]
    title: str
    name: str
    settings: tuple[Setting[Any], ...] = ()
    needs: tuple[Capability, ...] = ()
    follow: Callable[[Run, Values], Set | None] | None = None
    line: str = ""
    ways: tuple[tuple[Capability, ...], ...] = ()

    def missing(self, run: Run) -> tuple[Capability, ...]:
        """What the network that drives the page has not, and the part needs."""
        partner = run.partner is not None
        lacking = [missing(run.card, (*self.needs, *way), partner) for way in self.ways or ((),)]
        return lacking[0] if all(lacking) else ()


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
