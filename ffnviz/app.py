"""The app: page config, the controls all pages share, and the pages."""

from collections.abc import Mapping
from functools import partial

import streamlit as st
from streamlit.navigation.page import Page as Address

from ffnviz import controls, foot
from ffnviz.analysis.journey.ordering import ORDERS
from ffnviz.assets import ASSETS
from ffnviz.components.welcome import welcome
from ffnviz.idle import idle_collector
from ffnviz.lecture import desk, hiding, kept_draft, menu, story
from ffnviz.lecture.classroom import attending, brain
from ffnviz.model.folder import ModelFolderError
from ffnviz.navigation import FIRST, opened_page
from ffnviz.network_row import network_and_block
from ffnviz.page import Page
from ffnviz.pages import PAGES
from ffnviz.session import Session, network_of, network_sizes
from ffnviz.state import House
from ffnviz.takeaway import at_home

START_NEXT = "She opened the door and looked out at the"  # for who says the next word
START = "She opened the [MASK] and looked out."


@st.fragment
def show(session: Session, page: Page, addresses: Mapping[str, Address]) -> None:
    """All that a click may change: it then runs alone, and the sentence box is left as it is."""
    turn_to = session.page_to_turn_to()
    if turn_to is not None and turn_to != page.name:
        st.switch_page(addresses[turn_to])
    if not session.box_shows_the_sentence:
        st.rerun()  # a click changed the sentence, and the box is not part of this fragment
    # Computed before anything is drawn: the browser then gets the whole page in one piece.
    run, part = session.run(), page.part(session.state.part)
    missing = part.missing(run) if run else ()
    if run is not None and part.follow is not None and not missing:
        part.follow(run, session.navigator())
        run = session.run()
    session.write_url(run)
    taken = partial(at_home.ask, run) if run is not None and page.name == "journey" else None
    controls.bar(session, page, run, taken)
    kept_draft.keep_in_browser(session)
    attending.attend(session)
    attending.tell_class(session, run)
    if run is not None and brain.is_open():
        brain.show_brain(session, run)
        return
    if desk.is_open(page.name):
        desk.show_desk(session)
        return
    menu.notices()
    story.show_scene(session, run)
    if run is not None and page.name == "journey":
        at_home.offer(run)
    network_and_block(session, run)
    if len(page.parts) > 1:
        controls.part_buttons(session, page, run)
    if run is None:
        st.info("The box is empty. Type a sentence, or click one of the examples.")
        return
    controls.left_out_notice(run)
    if page.name == "timing":
        controls.device(page)
    if len(page.parts) > 1:
        controls.parts_away(session, page, run)
    controls.token_chips(run, session, page)
    if missing:
        st.info(f"“{part.title}” cannot be shown for this network. {missing[0].value}")
    else:
        part.render(run, session.navigator())
        if page.name == "journey":
            controls.device(page)
    foot.foot(
        session, page, part, run, menu.entries(session),
        lambda *asked: menu.do(session, page, *asked), menu.outcome(),
    )  # fmt: skip


def house() -> House:
    """What there is to be looked at.

    Raises:
        ModelFolderError: if a network cannot be read.
    """
    rooms = {page.name: {part.name: part.settings for part in page.parts} for page in PAGES}
    networks = network_sizes()
    first = network_of(next(iter(networks))).card
    return House(rooms, networks, ORDERS, START if first.has_mask else START_NEXT)


def main() -> None:
    """Run the page once, from top to bottom."""
    st.set_page_config("ffnviz", page_icon=str(ASSETS / "logo.svg"), layout="wide")
    st.html(ASSETS / "page.css")
    st.logo(ASSETS / "logo.svg", size="small")
    idle_collector().page_ran()
    page, addresses = opened_page()
    try:
        session = Session(house())
    except ModelFolderError as error:
        st.error(
            "A network could not be loaded, so there is nothing to show.", icon=":material/error:"
        )
        st.text(str(error))
        st.stop()
    session.open(page.name)
    story.begin(session)
    st.set_page_config(f"{page.title}: {session.state.sentence or 'no sentence'} · ffnviz")
    hiding.hide(session.showing)
    controls.sentence_box(session)
    if page.name == FIRST.name:
        welcome(
            session.came_bare,
            menu.short_label(session),
            key="welcome",
            on_story=lambda: story.start(session, short=True),
        )
    show(session, page, addresses)
