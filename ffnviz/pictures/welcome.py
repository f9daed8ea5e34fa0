"""A line on what to do first, which can be closed for good."""

from collections.abc import Callable
from typing import Any

from ffnviz.pictures.cell import Cell


def welcome_cell(bare: bool, story: str, key: str, on_story: Callable[[], Any]) -> Cell:
    """The line, shown until it is closed.

    Args:
        bare: whether the visitor came by an address that says nothing of what to show.
        story: what the button says that leads on to the story; empty if there is none.
        key: unique on the page.
        on_story: called when it is pressed.
    """
    data = {"bare": bare, "story": story}
    return Cell("welcome", key, data, events={"story": lambda _: on_story()})
