"""The app: page config, the controls all pages share, and the pages."""

from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache, partial
from typing import Literal
from urllib.parse import quote

import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.sparsity import record_of
from ffnviz.app import page_controls, training
from ffnviz.app.catalog import build_catalog
from ffnviz.app.lecture import class_sentences, classroom, draft, editor, menu, story
from ffnviz.app.rail import network_cell
from ffnviz.app.session import Session, learned_networks
from ffnviz.app.sheet_view import Frame, draw
from ffnviz.app.visit import visit
from ffnviz.jobs.run_queue import trace_ahead
from ffnviz.models.config import ASSETS
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.network import UnreadableTextError
from ffnviz.parts import PAGES, journey
from ffnviz.parts.part import Page, Part
from ffnviz.parts.places import stations_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.page import footer_cell, welcome_cell
from ffnviz.pictures.text import text_cell
from ffnviz.server.idle_collection import idle_collector
from ffnviz.server.streamlit_patches.patch import apply
from ffnviz.state.actions import OpenPage
from ffnviz.state.run import Run
from ffnviz.state.run_factory import any_network_is_loaded
from ffnviz.state.settings import Values
from ffnviz.state.state import ViewOptions

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


SELECTORS = {  # of what can be hidden
    "pages": '[data-testid="stHeader"], [data-cell="bar"]',
    "sentence": '.st-key-text, [data-cell="examples"], [data-cell$="network"]',
    "network": '[data-cell$="network"]',
    "parts": '[data-cell="part-list"]',
    "tokens": '[data-cell="chips"]',
    "foot": '[data-cell="footer"]',
}


RULES = {  # that hiding one calls for besides
    "pages": '[data-testid="stMainBlockContainer"] { padding-top: 0.5rem; }',
    "network": ".st-key-text { margin-right: 8rem; }",
}


def style(options: ViewOptions) -> str:
    """The CSS that hides what the options name; none of the URL's text gets into it."""
    if not options.hide:
        return ""
    hidden = ", ".join(SELECTORS[name] for name in options.hide)
    rules = (RULES[name] for name in options.hide if name in RULES)
    return " ".join([f"{hidden} {{ display: none !important; }}", *rules])


def following(page: Page, part: Part, run: Run) -> tuple[Page, Part] | None:
    """The next part of a first course that the network can show, here or later; None at the end."""
    parts = [(of_page, each) for of_page in PAGES for each in of_page.parts]
    after = parts[parts.index((page, part)) + 1 :]
    shown = (pair for pair in after if not pair[1].further and not pair[1].missing(run))
    return next(shown, None)


def what_it_knows(run: Run) -> list[str]:
    """What to expect of the network, by what it is and what it was trained on."""
    if not run.card.ours or run.card.provenance is None or run.card.provenance.record is None:
        return []
    count = sum(weight.numel() for weight in ours(run.model).encoder.parameters())
    record = record_of(run.model)
    *texts, last = ["old novels", "other old books", *record.besides]
    writes = "often writes" if record.sentences else "writes"
    millions = record.tokens[-1] / 1e6
    return [
        f"The network, {run.card.label}, is small: {count / 1e6:.1f} million weights. A chatbot "
        "has thousands of times as many. This network has one task: to guess hidden words. It "
        "answers no questions and looks nothing up.",
        f"It learnt English from {', '.join(texts)} and {last}: {millions:.1f} million tokens in "
        f"all. So it knows grammar better than the world, and it {writes} as people wrote over a "
        "hundred years ago.",
        "It reads words of other languages, and characters that are rare in these books, piece by "
        "piece, and other scripts byte by byte. The page shows how the network computes with "
        "these, but the network understands hardly any of them.",
    ]


def footer(page: Page, part: Part, run: Run) -> Cell:
    """The footer of a part."""
    coming = following(page, part, run)
    next_page, next_part = coming or (PAGES[0], PAGES[0].parts[0])
    if coming is None:
        label = f"Back to {next_page.title}"
    elif next_page is page:
        label = f"Next: {next_part.title}"
    else:
        part_title = f" · {next_part.title}" if len(next_page.parts) > 1 else ""
        label = f"Next: {next_page.title}{part_title}"
    knows = run.subject.per_network("what it knows", lambda: what_it_knows(run))
    on_next = partial(OpenPage, next_page.name, next_part.name)
    return footer_cell(label, knows, "footer", on_next)


def show(session: Session, page: Page, addresses: Mapping[str, st.Page]) -> None:
    """All that a click may change; it then runs alone, without the sentence box."""
    follow_training(page)
    if visit().show_next is not None:
        st.rerun()  # the catalog was made without it
    turn_to, visit().turn_to = visit().turn_to, None
    if turn_to is not None and turn_to != page.name:
        st.switch_page(addresses[turn_to])
    if not session.box_shows_the_sentence:
        st.rerun()  # a click changed the sentence, and the box is not part of this fragment
    run, part = session.run(), page.part(session.state.part)
    missing = part.missing(run) if run else ()
    if run is not None and page.name == "journey":  # it shows both networks
        trace_ahead(run)
    if run is not None and part.follow is not None and not missing:
        action = part.follow(run, Values(session.state.settings))
        if action is not None:
            session.do(action)
        run = session.run()
    session.write_url(run)
    if not visit().moving:
        classroom.publish_position(session, run)
    above = top(session, page, run)
    if run is not None and visit().shows_sentences and visit().led is not None:
        brain = partial(class_sentences.brain, session)
        draw(session, lambda run, _: brain(run) if run else Sheet([]), (), Frame(above))
    elif visit().desk == page.name:
        draw(session, lambda *_: editor.handout(session), (), Frame(above))
        editor.show_desk(session)
    else:
        frame = frame_of(session, page, part, run, above)
        in_class = bool(visit().view_options.follows)

        def sheet(run: Run | None, values: Values) -> Sheet:
            if run is None:
                return _note("empty", session.why_empty)
            return sheet_of(part, in_class, run, values)

        draw(session, sheet, part.settings, frame)
        follow_training(page)  # to look at a part may have begun one


def follow_training(page: Page) -> None:
    """Run all again once a training begins: how often a fragment runs is fixed at its call."""
    if training.refresh_s(page.name) != visit().refresh_s:
        st.rerun()


def top(session: Session, page: Page, run: Run | None) -> list[Cell]:
    """The cells above whatever a page shows."""
    return [
        page_controls.bar(session, page, run),
        page_controls.example_menu(session),
        draft.kept_in_browser(session),
        *classroom.class_line(session),
        *menu.notices(run),
    ]


def frame_of(session: Session, page: Page, part: Part, run: Run | None, above: list[Cell]) -> Frame:
    """What stands around a part, below what stands over every page."""
    network = network_cell(session, run)
    sentence = [
        *([page_controls.token_chips(run, page)] if run else []),
        *([network] if network else []),
    ]
    above = [*above[:1], *sentence, *above[1:]]  # the tokens are where the sentence is typed
    left_out = page_controls.left_out_notice(run) if run else []
    noted = bool(left_out) or (run is not None and bool(page_controls.what_to_know(run)))
    if page.name == FIRST.name and not noted:  # what is said of the sentence has its place
        above.append(
            welcome_cell(
                bare=not visit().came_with,
                story=menu.short_label(session),
                key="welcome",
                on_story=partial(story.start, session, short=True),
            )
        )
    above += story.scene_cells(session, run)
    parts = page_controls.part_list(session, page, run)
    if run is None:
        return Frame(above, side=parts, emptied=True)
    if stations_of(page.name, part.name):
        parts = [page_controls.block_map(page, part, run), *parts]
    above += left_out
    took = [journey.timing_line(run)] if page.name == "journey" else []
    return Frame(above, [*took, footer(page, part, run)], parts)


def _note(key: str, why: str) -> Sheet:
    return Sheet([row(text_cell(key, why, tone="info"))], [])


def sheet_of(part: Part, in_class: bool, run: Run, values: Values) -> Sheet:
    """What a part shows, or why it shows nothing; for a class it is made once."""
    missing = part.missing(run)
    if missing:
        why = f"“{part.title}” cannot be shown for this network. {missing[0].value}"
        return _note("missing", why)
    make = partial(part.sheet, run, values)
    try:
        sheet = run.subject.cached(("sheet", run.state), make) if in_class else make()
    except UnreadableTextError as error:  # of a text that is typed into the part itself
        return Sheet([row(text_cell("unreadable", str(error), tone="info"))])
    offer = page_controls.offered_file(run) if part.name == "journey" else None
    if offer is None:
        return sheet
    controls = [*(part.settings if sheet.controls is None else sheet.controls)]
    return Sheet([offer, *sheet.rows], [*controls, page_controls.CLOSE_FILE])


@cache
def logo() -> str:
    """The logo as a data URL, as Streamlit would look for a file in every run."""
    return f"data:image/svg+xml,{quote((ASSETS / 'logo.svg').read_text(encoding='utf-8'), safe='')}"


@cache
def page_style() -> str:
    """The page's style sheets."""
    files = ("page.css", "phone.css")
    return "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in files)


def main() -> None:
    """Run the page once, from top to bottom."""
    st.logo(logo(), size="small")
    idle_collector().page_ran()
    apply("plotly_file")  # `streamlit run` starts nothing of ours that could
    page, addresses = opened_page()
    try:
        with nullcontext() if any_network_is_loaded() else st.spinner("Loading the networks …"):
            session = Session(build_catalog(learned_networks()))
    except ModelFolderError as error:
        why = "A network could not be loaded, so there is nothing to show."
        st.error(why, icon=":material/error:")
        st.text(str(error))
        st.stop()
    session.open(page.name)
    session.show_new_network()
    story.begin(session)
    title = f"{page.title}: {session.state.sentence or 'no sentence'} · ffnviz"
    st.set_page_config(title, page_icon=logo(), layout="wide")
    st.html(f"<style>{page_style()}{style(visit().view_options)}</style>")
    page_controls.sentence_box(session)
    every = visit().refresh_s = training.refresh_s(page.name)
    st.fragment(show, run_every=every)(session, page, addresses)
