"""The name of the page, and the link to what it shows."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell


def bar_cell(
    title: str,
    part: str,
    sentence: str,
    network: Sequence[str],
    token: str,
    key: str,
    on_take: Callable[[], Any] | None = None,
) -> Cell:
    """The page's heading, and a button that copies the page's address.

    What changes of it is also told to a screen reader.

    Args:
        title: of the page.
        part: the title of the part that is shown; empty where a page has one only.
        sentence: as typed; it stands on paper and in saved pictures only.
        network: which one is looked at, and which block; saved pictures have it too.
        token: the chosen one; empty without a sentence.
        key: unique on the page.
        on_take: called when the person wants the page as a file; None where there is no such file.
    """
    data = {"title": title, "part": part, "sentence": sentence, "takes": on_take is not None}
    shown = {**data, "network": list(network), "token": token}
    return Cell("page_bar", key, shown, events={"take": lambda _: on_take and on_take()})
