"""A text file that a person brings: the browser reads it, and sends its text to the session."""

from collections.abc import Callable

import streamlit as st

from ffnviz.pictures.declare import declare
from ffnviz.pictures.sent import entry

_mount = declare("opening")


def open_file(
    label: str, accept: str, longest: int, key: str, on_text: Callable[[str, str], None]
) -> None:
    """Show what a file can be chosen with.

    Args:
        label: says which file.
        accept: its ending, as “.json”.
        longest: characters; of a longer file one more comes, so that it can be said.
        key: unique on the page.
        on_text: called with the file's name and its text.
    """

    def chosen() -> None:
        sent = st.session_state[key].file
        name, text = entry(sent, "name"), entry(sent, "text")
        if isinstance(name, str) and isinstance(text, str):
            on_text(name, text[: longest + 1])

    _mount({"label": label, "accept": accept, "longest": longest}, key=key, on_file_change=chosen)
