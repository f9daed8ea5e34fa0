"""A short "What am I looking at?" beside a picture, with the equation."""

from pathlib import Path

import streamlit as st

NOTES = Path(__file__).parents[2] / "assets" / "notes"


@st.cache_data(show_spinner=False)
def _note(name: str) -> str:
    return (NOTES / f"{name}.md").read_text(encoding="utf-8")


def explanation(name: str) -> None:
    """Show a button that opens the note assets/notes/<name>.md, which is ours, not typed."""
    with st.popover("What am I looking at?", type="tertiary", key=f"explain-{name}"):
        st.markdown(_note(name))
