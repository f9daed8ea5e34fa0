"""Streamlit's navigation at the top: the page that was opened, and the address of each."""

from typing import Literal

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
    def page_at(path: str, title: str, hidden: bool) -> st.Page:
        visibility: Literal["hidden", "visible"] = "hidden" if hidden else "visible"
        return st.Page(
            _show_nothing, title=title, url_path=path, default=not path, visibility=visibility
        )

    root = page_at("", FIRST.title, first_at_name)
    named = {
        page.name: page_at(page.name, page.title, page is FIRST and not first_at_name)
        for page in PAGES
    }
    opened = st.navigation([root, *named.values()], position="top")
    return opened, named if first_at_name else {**named, FIRST.name: root}


def _show_nothing() -> None:
    """What Streamlit runs for a page: main() draws ours itself."""
