"""A text of a person's own that their browser keeps: the server knows it while the page is open."""

from collections.abc import Callable
from typing import Any

from ffnviz.pictures.cell import Cell


def storage_cell(
    name: str, text: str | None, longest: int, key: str, on_kept: Callable[[str], Any]
) -> Cell:
    """An invisible cell that has the browser keep a text.

    Args:
        name: under which it is kept.
        text: to keep; nothing is kept of an empty one, and what was kept stays while one is too
            long. None asks for what is kept.
        longest: characters.
        key: unique on the page.
        on_kept: called with what was kept when it was asked for, or when another tab of the same
            browser has changed it.
    """

    def kept(sent: Any) -> Any:
        return on_kept(sent) if isinstance(sent, str) and len(sent) <= longest else None

    fits = text is not None and len(text) <= longest
    data = {"name": name, "asks": text is None, "text": text if fits else None}
    return Cell("local_storage", key, data, events={"kept": kept})
