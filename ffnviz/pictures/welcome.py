"""What to do first: one line that can be closed for good."""

from collections.abc import Callable

from ffnviz.pictures.declare import declare

_mount = declare("welcome")


def welcome(bare: bool, story: str, key: str, on_story: Callable[[], None]) -> None:
    """Show the line to those who have not closed it.

    Args:
        bare: whether the visitor came by an address that says nothing of what to show.
        story: what the button says that leads on to the story; empty if there is none.
        key: unique on the page.
        on_story: called when it is pressed.
    """
    _mount({"bare": bare, "story": story}, key=key, on_story_change=on_story)
