"""A part with several views of one idea, one of which is shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ffnviz.analysis.needs import Capability, missing
from ffnviz.parts.part import Part
from ffnviz.parts.sheet import Row, Sheet, row
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting


@dataclass(frozen=True)
class View:
    """One of a part's views."""

    sheet: Callable[[Run, Values], Sheet]  # as a part's
    settings: tuple[Setting[Any], ...] = ()  # that it has besides the choice of the view
    needs: tuple[Capability, ...] = ()  # what it needs of a network


def view_setting(name: str, options: Mapping[str, str]) -> Setting[str]:
    """The choice of a part's view, by its id, with its words on the page."""
    return choice_setting(name, options).with_control("Show")


def part_of_views(
    title: str, name: str, line: str, choice: Setting[str], views: Mapping[str, View]
) -> Part:
    """A part that shows one of its views, and offers those that the network can show.

    In place of a view that it cannot show stands the first that it can, below a line that says why.
    The views have the ids of `choice`; title, name and line are a Part's.
    """
    settings = [choice, *(setting for view in views.values() for setting in view.settings)]
    ways = tuple(view.needs for view in views.values())

    def sheet(run: Run, values: Values) -> Sheet:
        partner, chosen = run.partner is not None, values[choice]
        lacking = {each: missing(run.card, view.needs, partner) for each, view in views.items()}
        offered = {each: words for each, words in choice.options.items() if not lacking[each]}
        why: list[Row] = []
        if lacking[chosen]:
            words = f"“{choice.options[chosen]}” cannot be shown for this network."
            why = [row(text_cell("missing", f"{words} {lacking[chosen][0].value}", tone="info"))]
            chosen = next(iter(offered), "")
        if not chosen:
            return Sheet(why, [])
        shown = views[chosen].sheet(run, values)
        controls = views[chosen].settings if shown.controls is None else shown.controls
        choices = [replace(choice, options=offered)] if len(offered) > 1 else []
        return Sheet([*why, *shown.rows], [*choices, *controls])

    return Part(sheet, title, name, tuple(dict.fromkeys(settings)), line=line, ways=ways)
