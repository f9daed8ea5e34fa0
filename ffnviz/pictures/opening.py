"""A text file that a person brings: the browser reads it, and sends its text to the session."""

from collections.abc import Callable
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import entry


def opening_cell(
    label: str, accept: str, longest: int, key: str, on_text: Callable[[str, str], None]
) -> Cell:
    """A button that opens a file.

    Args:
        label: says which file.
        accept: its ending, as “.json”.
        longest: characters; of a longer file one more comes, so that it can be said.
        key: unique on the page.
        on_text: called with the file's name and its text.
    """

    def chosen(sent: Any) -> None:
        name, text = entry(sent, "name"), entry(sent, "text")
        if isinstance(name, str) and isinstance(text, str):
            on_text(name, text[: longest + 1])

    data = {"label": label, "accept": accept, "longest": longest}
    return Cell("opening", key, data, events={"file": chosen})
