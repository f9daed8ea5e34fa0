"""Which page was opened, and where each page is: Streamlit's navigation, at the top."""

import streamlit as st

from ffnviz.parts import PAGES
from ffnviz.parts.part import Page

FIRST = PAGES[0]


def opened_page() -> tuple[Page, dict[str, st.Page]]:
    """The page that was opened, and the address of every page by its name.

    The first page answers at / and, as all others do, at its name. The navigation shows one of the
    two: where we are, so that it is marked as such.
    """
    opened, addresses = _navigate(first_at_name=False)
    if opened.url_path == FIRST.name:
        opened, addresses = _navigate(first_at_name=True)
    name = opened.url_path or FIRST.name
    return next(page for page in PAGES if page.name == name), addresses


def _navigate(first_at_name: bool) -> tuple[st.Page, dict[str, st.Page]]:
    root = st.Page(
        _show_nothing,
        title=FIRST.title,
        url_path="",
        default=True,
        visibility="hidden" if first_at_name else "visible",
    )
    named = {
        page.name: st.Page(
            _show_nothing,
            title=page.title,
            url_path=page.name,
            visibility="hidden" if page is FIRST and not first_at_name else "visible",
        )
        for page in PAGES
    }
    opened = st.navigation([root, *named.values()], position="top")
    return opened, named if first_at_name else {**named, FIRST.name: root}


def _show_nothing() -> None:
    """What Streamlit runs for a page: ours is drawn once everything is known."""
