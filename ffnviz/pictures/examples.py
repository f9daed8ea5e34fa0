"""A row of example sentences, grouped by what they show."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from ffnviz.pictures.declare import declare
from ffnviz.pictures.sent import one_of

_mount = declare("examples")


def examples(
    groups: Sequence[tuple[str, Sequence[str]]],
    key: str,
    on_choose: Callable[[str], None],
    why: Mapping[str, str] | None = None,
) -> None:
    """Show the groups; a click hands its sentence to `on_choose` before the page runs again.

    Args:
        groups: a title and its sentences, each.
        key: unique on the page.
        on_choose: called with the clicked sentence.
        why: sentence → why it is there.
    """
    sentences = [sentence for _, group in groups for sentence in group]

    def chosen() -> None:
        sentence = one_of(st.session_state[key].sentence, sentences)
        if sentence is not None:
            on_choose(sentence)

    data = {
        "groups": [{"title": title, "sentences": list(group)} for title, group in groups],
        "why": dict(why or {}),
    }
    _mount(data, key=key, on_sentence_change=chosen)
