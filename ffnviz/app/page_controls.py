"""The controls that all pages share: sentence, examples, bar, file to take home, tokens, parts."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby

import streamlit as st

from ffnviz.analysis.measuring import Progress
from ffnviz.app import measuring
from ffnviz.app.lecture import menu
from ffnviz.app.session import Session, network_label
from ffnviz.app.visit import TEXT, visit
from ffnviz.export.document import TooLargeError
from ffnviz.export.journey import ExportedJourney, journey_file
from ffnviz.jobs.run_queue import RUN_QUEUE
from ffnviz.models.config import ASSETS
from ffnviz.parts import sentences
from ffnviz.parts.guess import question, what_it_cannot_read, words_to_hide
from ffnviz.parts.journey.neurons import awake_of
from ffnviz.parts.part import FURTHER, Page, Part
from ffnviz.parts.places import STATIONS, parts_at, stations_of
from ffnviz.parts.sheet import Button, Measured, Measurement, Row, Soon, row
from ffnviz.pictures.block_picture import MapStation, block_map_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.page import PartList, bar_cell, examples_cell
from ffnviz.pictures.text import saving_cell, text_cell
from ffnviz.pictures.tokens import Chips
from ffnviz.pictures.wording import Sentence
from ffnviz.state.actions import ChooseToken, HideWord, OpenPage, ShowWord
from ffnviz.state.run import Run
from ffnviz.state.state import tidied, word_behind

EXAMPLES = ASSETS / "examples.toml"


@dataclass(frozen=True)
class Example:
    """A sentence to start from."""

    title: str  # what it shows; examples of the same title stand together
    sentence: str  # with whatever it hides
    why: str  # in a line, why it is there
    token: int | None = None  # that is chosen with it, from 1; None takes the usual one
    says: str = ""  # the likeliest word at the mask
    without: str = ""  # the likeliest word without the last FFN
    not_among: str = ""  # a word that is not among the ten likeliest


@cache
def read_examples() -> tuple[Example, ...]:
    """The sentences of assets/examples.toml."""
    table = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    return tuple(Example(**entry) for entry in table["example"])


def sentence_box(session: Session) -> None:
    """The box with the sentence."""
    if not session.box_shows_the_sentence:
        st.session_state[TEXT] = session.state.sentence

    def take_in() -> None:
        typed: str | None = st.session_state[TEXT]
        if typed is not None:
            session.type(typed)

    st.text_input(
        "Sentence",
        value=None,  # what a browser says that has not filled the box yet: an emptied one says ""
        key=TEXT,
        live=f"{RUN_QUEUE.pause_ms}ms",
        placeholder="Type a sentence; [MASK] or ___ stands for a hidden word",
        autocomplete="off",
        label_visibility="collapsed",
        on_change=take_in,
    )


def example_menu(session: Session) -> Cell:
    """Sentences to start from, in a menu beside the box."""
    known = read_examples()
    groups = [(title, [e.sentence for e in es]) for title, es in groupby(known, lambda e: e.title)]

    def choose(sentence: str) -> None:
        session.type(sentence)
        token = next(each.token for each in known if each.sentence == sentence)
        if token is not None:
            session.do(ChooseToken(token - 1))

    return examples_cell(groups, "examples", choose, {each.sentence: each.why for each in known})


def left_out_notice(run: Run) -> list[Cell]:
    """The warning that the network cannot read all of a long text."""
    trace = run.whole
    if len(tidied(st.session_state.get(TEXT) or "")) > len(run.state.sentence):
        why = (
            f"Your text is too long: a link has room for its first {len(run.state.sentence):,} "
            f"characters, and the network reads at most {run.model.sizes.max_tokens} tokens. The "
            "rest is left out below; shorten the text to see all of it."
        )
    elif trace.n_left_out:
        why = sentences.of_left_out(len(trace.tokens), trace.n_left_out)
    else:
        return []
    return [text_cell("left-out", why, tone="warning")]


def bar(session: Session, page: Page, run: Run | None) -> Cell:
    """The page's name, its link, file and lecture, and what a screen reader hears of a change."""
    state = session.state
    part = page.part(state.part).title if len(page.parts) > 1 else ""
    network = [network_label(state.network), f"block {state.block + 1}"]
    take = partial(ask_for_file, run) if run and page.name == "journey" else None
    choose = partial(menu.do, session, page)
    more = menu.entries(session), choose, menu.outcome()
    return bar_cell(page.title, part, state.sentence, network, "bar", take, *more)


def ask_for_file(run: Run) -> None:
    """Offer the file of what is shown now."""
    visit().take_home = _setup_of_file(run)
    measuring.forget("take-home")


def offered_file(run: Run) -> Measurement[ExportedJourney | str] | None:
    """The file, if it was asked for and the sentence is still the same."""
    wanted = visit().take_home
    if wanted is None or wanted[:3] != _setup_of_file(run)[:3]:
        return None
    soon = row(Soon("", "A file of this page, which opens without a server", 90))
    return Measurement(
        "take-home",
        wanted,
        make_file,
        _saved,
        before=[soon],
        label="Make it again",
        doing="Making the file …",
    )


def make_file(run: Run, progress: Progress) -> ExportedJourney | str:
    """The file, or a sentence that says why there is none."""
    try:
        return journey_file(run, progress)
    except TooLargeError as error:
        return str(error)


def _saved(measured: Measured[ExportedJourney | str]) -> Sequence[Row]:
    """The button that saves it, and what is in it."""
    file = measured.result
    if isinstance(file, str):
        return [row(text_cell("take-home-save", file, tone="warning"))]
    content = file.html.encode()
    label = f"Save the file ({len(content) / 1e6:.1f} MB)"
    save = saving_cell(label, content, "ffnviz-journey.html", "text/html", "take-home-save")
    says = "It holds all tokens, blocks and networks of this sentence, and opens without a server."
    notice = [text_cell("take-home-notice", file.notice, tone="warning")] if file.notice else []
    return [row([save, *notice, text_cell("take-home-says", says)])]


def _setup_of_file(run: Run) -> tuple[object, ...]:
    """What the file depends on: first what changes all of it, then what it opens with."""
    networks = tuple(traced.card.id for traced in run.both)
    state = run.state
    opens_with = state.network, state.block, run.token, state.neuron, state.order
    return (networks, run.device, state.sentence, *opens_with)


def _close_file() -> None:
    visit().take_home = None


CLOSE_FILE = Button("Close", _close_file)  # withdraws the offer


def what_to_know(run: Run) -> Sentence:
    """What a person must know of the sentence before any picture: one thing, the gravest."""
    return what_it_cannot_read(run.subject) or question(run)


def token_chips(run: Run, page: Page) -> Cell:
    """The tokens in place of the sentence; the chosen one drives the page.

    Each has the share of neurons that it activates, on the pages that speak of it.
    """
    shares, means = list[float](), ""
    if page.name in ("journey", "sparsity"):
        counted = awake_of(run.subject, run.state.block)
        means = f"of {counted.d_ff:,} neurons {sentences.awake_means(counted.threshold)}"
        shares = counted.shares.tolist()
    words, asks = words_to_hide(run), what_to_know(run)

    def hide(chip: int) -> HideWord | None:
        word = words[chip]
        return None if word is None else HideWord(word.start, word.end, word.token)

    ends = [token.end for token in run.trace.tokens]
    unhides = [word_behind(visit().hidden_words, run.state.sentence, end) for end in ends]

    def unhide(chip: int) -> ShowWord | None:
        return ShowWord(ends[chip], unhides[chip], chip) if unhides[chip] else None

    return Chips(
        head=Head(asks, "tokens", run.card.colour) if len(page.parts) == 1 else None,
        accent=run.card.colour,
        texts=run.labels,
        shares=shares,
        chosen=run.token,
        what=means,
        on_choose=ChooseToken,
        hides=[word.text if word else "" for word in words],
        on_hide=hide,
        asks=bool(asks),
        joins=run.joins,
        unhides=unhides,
        on_unhide=unhide,
    ).to_cell("chips")


def block_map(page: Page, part: Part, run: Run) -> Cell:
    """The place of a part in the block, and the ways to other parts about the same."""
    about = {
        name: [(to, each) for to, each in parts_at(name) if not each.missing(run)]
        for name in STATIONS
    }
    here = stations_of(page.name, part.name)
    stations = []
    for name, (sign, title) in STATIONS.items():
        parts = [(each.title, to.title) for to, each in about[name]]
        shown = about[name].index((page, part)) if (page, part) in about[name] else None
        stations.append(MapStation(name, sign, title, name in here, parts, shown))

    def go(station: int, to: int) -> OpenPage:
        to_page, to_part = about[list(STATIONS)[station]][to]
        return OpenPage(to_page.name, to_part.name)

    return block_map_cell(stations, "block-map", go)


def part_list(session: Session, page: Page, run: Run | None) -> list[Cell]:
    """The parts of a page that this network can show, and why others are left out."""
    if len(page.parts) == 1:
        return []
    shown, reasons = list[Part](), dict[str, list[str]]()
    for part in page.parts:
        missing = part.missing(run) if run else ()
        if missing and part.name != session.state.part:
            reasons.setdefault(missing[0].value, []).append(part.title)
        else:
            shown.append(part)
    away = [f"Not for this network: {', '.join(titles)}. {why}" for why, titles in reasons.items()]
    listed = PartList(
        label=f"Parts of {page.title}",
        parts=[(part.title, part.line + FURTHER * part.further) for part in shown],
        chosen=[part.name for part in shown].index(session.state.part),
        away=away,
        on_choose=lambda at: OpenPage(page.name, shown[at].name),
    )
    return [listed.to_cell("part-list")]
