"""A box for what is said, into which numbers are put by choosing them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ffnviz.pictures.declare import declare
from ffnviz.pictures.story import Words, spans

_mount = declare("words_box")


@dataclass(frozen=True)
class Choice:
    """A number that may be put into the words.

    Attributes:
        name: that stands for it, in braces.
        meaning: what it is.
        now: what it is for what the scene shows.
    """

    name: str
    meaning: str
    now: str


def words_box(
    label: str,
    text: str,
    longest: int,
    reads: Words,
    choices: Sequence[Choice] | None,
    key: str,
    on_text: Callable[[str], None],
    on_ask: Callable[[], None],
) -> None:
    """Show it.

    Args:
        label: says what is written here.
        text: that stands in it.
        longest: characters.
        reads: the text with its numbers; empty if there are none, or if it cannot be read.
        choices: the numbers; None until somebody asks for them, as they take a while.
        key: unique on the page.
        on_text: called with the text when it has changed.
        on_ask: called when somebody wants to choose a number.
    """

    def wrote() -> None:
        sent = st.session_state[key].text
        if isinstance(sent, str):
            on_text(sent[:longest])

    data: dict[str, Any] = {
        "label": label,
        "text": text,
        "longest": longest,
        "reads": spans(reads),
        "choices": choices and [[each.name, each.meaning, each.now] for each in choices],
    }
    _mount(data, key=key, on_text_change=wrote, on_ask_change=on_ask)
