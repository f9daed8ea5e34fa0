"""The front door: page config, the controls all pages share, and the pages."""

from pathlib import Path

import streamlit as st

from ffnviz import controls
from ffnviz.analysis.ordering import ORDERS
from ffnviz.idle import idle_collector
from ffnviz.model.folder import ModelFolderError
from ffnviz.page import Page
from ffnviz.pages import PAGES
from ffnviz.session import Session, network_sizes
from ffnviz.state import House

ASSETS = Path(__file__).parent / "assets"
START = "She opened the [MASK] and looked out."


def show_nothing() -> None:
    """What st.navigation runs: the page is drawn below, once everything is known."""


@st.fragment
def show(session: Session, page: Page) -> None:
    """All that a click may change: it then runs alone, and the sentence box is left as it is."""
    turn_to = session.page_to_turn_to()
    if turn_to is not None and turn_to != page.name:
        st.switch_page(next(a for a in addresses if a.url_path == turn_to))
    # Computed before anything is drawn: the browser then gets the whole page in one piece.
    run, part = session.run(), page.part(session.state.part)
    if run is not None and part.follow is not None and not part.missing(run):
        part.follow(run, session.navigator())
    session.write_url(run)
    controls.network_and_block(session)
    if len(page.parts) > 1:
        controls.part_buttons(session, page, run)
    if run is None:
        st.info("The box is empty. Type a sentence, or click one of the examples.")
        return
    controls.left_out_notice(run)
    controls.token_chips(run, session)
    if part.missing(run):
        st.info(f"“{part.title}” cannot be shown for this network. {part.missing(run)[0].value}")
        return
    part.render(run, session.navigator())


def house() -> House:
    """What there is to be looked at."""
    rooms = {page.name: {part.name: part.settings for part in page.parts} for page in PAGES}
    return House(rooms, network_sizes(), ORDERS, START)


st.set_page_config("ffnviz", page_icon=str(ASSETS / "logo.svg"), layout="wide")
st.html(ASSETS / "page.css")
st.logo(ASSETS / "logo.svg", size="small")
idle_collector().page_ran()
addresses = [st.Page(show_nothing, title=page.title, url_path=page.name) for page in PAGES]
page = PAGES[addresses.index(st.navigation(addresses, position="top"))]
try:
    session = Session(house())
    session.open(page.name)
except ModelFolderError as error:
    st.error("A twin could not be loaded, so there is nothing to show.", icon=":material/error:")
    st.text(str(error))
    st.stop()
controls.sentence_box(session)
show(session, page)
