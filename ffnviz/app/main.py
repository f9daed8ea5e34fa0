"""The app: page config, the controls all pages share, and the pages."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from ffnviz.analysis.journey.ordering import ORDERS
from ffnviz.app import export_widget, footer, page_controls
from ffnviz.app.lecture import (
    class_sentences,
    classroom,
    draft_storage,
    editor,
    hidden_controls,
    menu,
    story,
)
from ffnviz.app.model_selector import network_and_block
from ffnviz.app.navigation import FIRST, opened_page
from ffnviz.app.session import Session, network_by_id, network_sizes
from ffnviz.app.sheet_view import show_sheet
from ffnviz.models.assets import ASSETS
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.parts import PAGES
from ffnviz.parts.part import Page
from ffnviz.pictures.declare import mount_cell
from ffnviz.pictures.welcome import welcome
from ffnviz.server.idle_collection import idle_collector
from ffnviz.server.streamlit_patches.patch import apply
from ffnviz.state.run_factory import any_network_is_loaded
from ffnviz.state.settings import Values
from ffnviz.state.state import Catalog

START_NEXT = "She opened the door and looked out at the"  # for who says the next word
START = "She opened the [MASK] and looked out."


@st.fragment
def show(session: Session, page: Page, addresses: Mapping[str, st.Page]) -> None:
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
        if part.sheet is None:
            part.follow(run, session.navigator())
        elif (action := part.follow(run, Values(session.state.settings))) is not None:
            session.do(action, settled=False)
        run = session.run()
    session.write_url(run)
    taken = partial(export_widget.ask, run) if run is not None and page.name == "journey" else None
    page_controls.bar(session, page, run, taken)
    draft_storage.keep_in_browser(session)
    classroom.attend(session)
    classroom.tell_class(session, run)
    if run is not None and class_sentences.is_open():
        class_sentences.show_brain(session, run)
        return
    if editor.is_open(page.name):
        editor.show_desk(session)
        return
    menu.notices()
    story.show_scene(session, run)
    if run is not None and page.name == "journey":
        export_widget.offer(run)
    network_and_block(session, run)
    if len(page.parts) > 1:
        page_controls.part_buttons(session, page, run)
    if run is None:
        st.info("The box is empty. Type a sentence, or click one of the examples.")
        return
    page_controls.left_out_notice(run)
    if page.name == "timing":
        page_controls.device(page)
    if len(page.parts) > 1:
        page_controls.parts_away(session, page, run)
    chips = page_controls.token_chips(run, page)
    if missing:
        st.info(f"“{part.title}” cannot be shown for this network. {missing[0].value}")
    elif part.sheet is not None:
        show_sheet(session, part, part.sheet, run, [chips])
        if page.name == "journey":
            page_controls.device(page)
    else:
        chips = replace(
            chips, events={n: partial(_do, session, a) for n, a in chips.events.items()}
        )
        mount_cell(chips, run.stamp)
        part.render(run, session.navigator())
        if page.name == "journey":
            page_controls.device(page)
    footer.foot(
        session, page, part, run, menu.entries(session),
        lambda *asked: menu.do(session, page, *asked), menu.outcome(),
    )  # fmt: skip


def _do(session: Session, ask: Callable[[Any], Any], sent: Any) -> None:
    action = ask(sent)
    if action is not None:
        session.do(action)


def build_catalog() -> Catalog:
    """What there is to be looked at.

    Raises:
        ModelFolderError: if a network cannot be read.
    """
    rooms = {page.name: {part.name: part.settings for part in page.parts} for page in PAGES}
    networks = network_sizes()
    first = network_by_id(next(iter(networks))).card
    return Catalog(rooms, networks, ORDERS, START if first.has_mask else START_NEXT)


def main() -> None:
    """Run the page once, from top to bottom."""
    st.set_page_config("ffnviz", page_icon=str(ASSETS / "logo.svg"), layout="wide")
    st.html(ASSETS / "page.css")
    st.logo(ASSETS / "logo.svg", size="small")
    idle_collector().page_ran()
    apply("plotly_file")  # `streamlit run` starts nothing of ours that could
    page, addresses = opened_page()
    try:
        with nullcontext() if any_network_is_loaded() else st.spinner("Loading the networks …"):
            session = Session(build_catalog())
    except ModelFolderError as error:
        st.error(
            "A network could not be loaded, so there is nothing to show.", icon=":material/error:"
        )
        st.text(str(error))
        st.stop()
    session.open(page.name)
    story.begin(session)
    st.set_page_config(f"{page.title}: {session.state.sentence or 'no sentence'} · ffnviz")
    hidden_controls.hide(session.view_options)
    page_controls.sentence_box(session)
    if page.name == FIRST.name:
        welcome(
            session.came_bare,
            menu.short_label(session),
            key="welcome",
            on_story=lambda: story.start(session, short=True),
        )
    show(session, page, addresses)
