"""The name of the page, and the link to what it shows."""

from collections.abc import Callable, Sequence

from ffnviz.pictures.declare import declare

_mount = declare("page_bar")


def page_bar(
    title: str,
    part: str,
    sentence: str,
    network: Sequence[str],
    token: str,
    key: str,
    on_take: Callable[[], None] | None = None,
) -> None:
    """Show it: the page's heading, and a button that copies the page's address.

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
    _mount({**data, "network": list(network), "token": token}, key=key,
           on_take_change=on_take or (lambda: None))  # fmt: skip
