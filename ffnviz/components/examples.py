"""A row of example sentences, grouped by what they show."""

from collections.abc import Callable, Sequence

import streamlit as st

from ffnviz.components.declare import declare
from ffnviz.components.sent import one_of

_mount = declare("examples")


def examples(
    groups: Sequence[tuple[str, Sequence[str]]], key: str, on_choose: Callable[[str], None]
) -> None:
    """Show the groups; a click hands its sentence to `on_choose` before the page runs again."""
    sentences = [sentence for _, group in groups for sentence in group]

    def chosen() -> None:
        sentence = one_of(st.session_state[key].sentence, sentences)
        if sentence is not None:
            on_choose(sentence)

    data = {"groups": [{"title": title, "sentences": list(group)} for title, group in groups]}
    _mount(data, key=key, on_sentence_change=chosen)
