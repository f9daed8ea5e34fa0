"""What to do first: one line that can be closed for good."""

from ffnviz.components.declare import declare

_mount = declare("welcome")


def welcome(bare: bool, key: str) -> None:
    """Show the line to those who have not closed it.

    Args:
        bare: whether the visitor came by an address that says nothing of what to show.
        key: unique on the page.
    """
    _mount({"bare": bare}, key=key)
