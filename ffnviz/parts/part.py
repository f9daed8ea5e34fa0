"""What a page is made of: parts shown one at a time, each a sheet."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ffnviz.analysis.needs import Capability, missing
from ffnviz.parts.sheet import Row, Sheet, row
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting

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


STARS = "★ goes beyond a first course; “Next” passes over it."


@dataclass(frozen=True)
class View:
    """One of a part's views."""

    label: str  # its name on the page
    sheet: Callable[[Run, Values], Sheet]  # as a part's
    settings: tuple[Setting[Any], ...] = ()  # that it has besides the choice of the view
    needs: tuple[Capability, ...] = ()  # what it needs of a network
    further: bool = False  # beyond a first course
    # as a part's; it is asked while the view is shown
    follow: Callable[[Run, Values], Set | None] | None = None


def part_of_views(
    title: str, name: str, line: str, setting: str, views: Mapping[str, View]
) -> Part:
    """A part that shows one of its views, and offers those that the network can show.

    Instead of one that it cannot, the first is shown that it can, below a line that says why. The
    setting of the name `setting` in the URL chooses a view by its id.
    """
    labels = {each: view.label + FURTHER * view.further for each, view in views.items()}
    further = any(view.further for view in views.values())
    choice = choice_setting(setting, labels).with_control("Show", help=STARS if further else "")
    settings = [choice, *(each for view in views.values() for each in view.settings)]
    ways = tuple(view.needs for view in views.values())

    def sheet(run: Run, values: Values) -> Sheet:
        partner, chosen = run.partner is not None, values[choice]
        lacking = {each: missing(run.card, view.needs, partner) for each, view in views.items()}
        offered = {each: label for each, label in labels.items() if not lacking[each]}
        why: list[Row] = []
        if lacking[chosen]:
            words = f"“{views[chosen].label}” cannot be shown for this network."
            why = [row(text_cell("missing", f"{words} {lacking[chosen][0].value}", tone="info"))]
            chosen = next(iter(offered), "")
        if not chosen:
            return Sheet(why, [])
        shown = views[chosen].sheet(run, values)
        controls = views[chosen].settings if shown.controls is None else shown.controls
        choices = [replace(choice, options=offered)] if len(offered) > 1 else []
        return Sheet([*why, *shown.rows], [*choices, *controls])

    def follow(run: Run, values: Values) -> Set | None:
        shown = views[values[choice]].follow
        return shown(run, values) if shown else None

    return Part(
        sheet,
        title,
        name,
        tuple(dict.fromkeys(settings)),
        line=line,
        ways=ways,
        follow=follow if any(view.follow for view in views.values()) else None,
    )
