"""The foot of a part: what comes next, the glossary, and what the network knows."""

from collections.abc import Callable, Sequence

from ffnviz.components.declare import declare

_mount = declare("foot")


def foot(following: str, knows: Sequence[str], key: str, on_next: Callable[[], None]) -> None:
    """Show the foot; a click on what comes next calls `on_next` before the page runs again.

    Args:
        following: what comes next, as its button says it.
        knows: what the network knows, a paragraph each; none if nothing is known of it.
        key: unique on the page.
        on_next: called when the person goes on.
    """
    _mount({"next": following, "knows": list(knows)}, key=key, on_next_change=on_next)
