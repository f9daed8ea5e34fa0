"""The app: page config, the controls all pages share, and the pages."""

from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import Page as Address

from ffnviz import controls, session
from ffnviz.assets import ASSETS
from ffnviz.idle import idle_collector
from ffnviz.model.folder import ModelFolderError
from ffnviz.navigation import opened_page
from ffnviz.page import Page


@st.fragment
def show(page: Page, addresses: Mapping[str, Address]) -> None:
    """All that a click may change: it then runs alone, and the sentence box is left as it is."""
    turn_to = session.page_to_turn_to()
    if turn_to is not None and turn_to != page.name:
        st.switch_page(addresses[turn_to])
    # Computed before anything is drawn: the browser then gets the whole page in one piece.
    run = session.current_run()
    part = session.current_part(page)
    session.write_url(run, page, part)
    controls.twin_and_block()
    if len(page.parts) > 1:
        controls.part_buttons(page, part)
    if run is None:
        st.info("The box is empty. Type a sentence, or click one of the examples.")
        return
    controls.left_out_notice(run)
    controls.token_chips(run)
    part.render(run, session.choices())


def main() -> None:
    """Run the page once, from top to bottom."""
    st.set_page_config("ffnviz", page_icon=str(ASSETS / "logo.svg"), layout="wide")
    st.html(ASSETS / "page.css")
    st.logo(ASSETS / "logo.svg", size="small")
    idle_collector().page_ran()
    page, addresses = opened_page()
    try:
        session.open_url()
        session.current_run()
    except ModelFolderError as error:
        st.error(
            "A twin could not be loaded, so there is nothing to show.", icon=":material/error:"
        )
        st.text(str(error))
        st.stop()
    controls.sentence_box()
    show(page, addresses)
