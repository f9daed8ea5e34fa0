"""A text of a person's own that their browser keeps: the server knows it while the page is open."""

from collections.abc import Callable

import streamlit as st

from ffnviz.pictures.declare import declare

_mount = declare("local_storage")


def local_storage(
    name: str, text: str | None, longest: int, key: str, on_kept: Callable[[str], None]
) -> None:
    """Have the browser keep it; nothing is seen of that.

    Args:
        name: under which it is kept.
        text: to keep; nothing is kept of an empty one, and what was kept stays while one is too
            long. None asks for what is kept.
        longest: characters.
        key: unique on the page.
        on_kept: called with what was kept when it was asked for, or when another tab of the same
            browser has changed it.
    """

    def kept() -> None:
        sent = st.session_state[key].kept
        if isinstance(sent, str) and len(sent) <= longest:
            on_kept(sent)

    fits = text is not None and len(text) <= longest
    data = {"name": name, "asks": text is None, "text": text if fits else None}
    _mount(data, key=key, on_kept_change=kept)
