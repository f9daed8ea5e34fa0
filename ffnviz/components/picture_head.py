"""What stands above a picture: its sentence, and "What am I looking at?"."""

from collections.abc import Callable, Sequence

import streamlit as st

from ffnviz.components.explanation import explanation
from ffnviz.components.headline import Part, headline


def picture_head(
    name: str,
    parts: Sequence[Part],
    palettes: dict[str, dict[str, str]],
    accent: str,
    control: Callable[[], None] | None = None,
) -> None:
    """Show the sentence, the picture's control if it has one, and the note assets/notes/<name>.md.

    Args:
        name: the picture's, unique on the page.
        parts: the sentence, as in `headline`.
        palettes: the themes' colours.
        accent: which of their colours the sentence's numbers have.
        control: draws a widget of the picture.
    """
    with st.container(horizontal=True, vertical_alignment="center", key=f"head-{name}"):
        headline(parts, palettes, accent, key=f"headline-{name}")
        if control is not None:
            control()
        explanation(name)
