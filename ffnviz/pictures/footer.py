"""The footer of a part: what comes next, the glossary, what the network knows."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell


def footer_cell(following: str, knows: Sequence[str], key: str, on_next: Callable[[], Any]) -> Cell:
    """The footer of a page.

    Args:
        following: what comes next, as its button says it.
        knows: what the network knows, a paragraph each; none if nothing is known of it.
        key: unique on the page.
        on_next: called when the person goes on.
    """
    data = {"next": following, "knows": list(knows)}
    return Cell("footer", key, data, events={"next": lambda _: on_next()})
