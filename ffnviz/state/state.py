"""What is looked at, as one frozen value that is also a URL.

The link in the address bar, a step of Back, what a click asks for: all are a State. It knows no
Streamlit and no network; a Catalog says what there is to look at.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.state.settings import Setting, shortened

LARGEST_SCENE = 10_000
LONGEST_NAME = 20  # characters of a lecture's name
PRESENT = {"1": True, "explore": False}  # in the URL → whether the scene alone is on the screen
HIDEABLE = ("pages", "sentence", "network", "parts", "tokens", "foot")
NAMES = ("scene", "path", "present", "hide", "class", "lecture")


@dataclass(frozen=True)
class ViewOptions:
    """How a page is shown."""

    scene: int | None = None  # of the lecture, from 0; None outside of it
    short: bool = False  # whether the shorter path through the lecture is taken
    presenting: bool = False  # whether this is a talk before an audience
    # whether the speaker has left the scene for a while; the whole page is shown then
    exploring: bool = False
    hide: tuple[str, ...] = ()  # which of HIDEABLE are not on the page, in that order
    follows: str = ""  # the code of the class that is followed; empty if none is
    lecture: str = ""  # the built-in lecture, by its name; empty for the visitor's or the server's

    def to_url(self) -> dict[str, str]:
        """The URL's parameters for what differs from the default."""
        params: dict[str, str] = {}
        if self.scene is not None:
            params["scene"] = str(self.scene + 1)
            if self.lecture:
                params["lecture"] = self.lecture
            if self.short:
                params["path"] = "short"
            if self.presenting:
                params["present"] = "explore" if self.exploring else "1"
        if self.hide:
            params["hide"] = ",".join(self.hide)
        if self.follows:
            params["class"] = self.follows
        return params


def view_options_from_url(params: Mapping[str, str]) -> ViewOptions:
    """The options that a URL asks for; what it lacks or garbles takes its default."""
    number, hidden = params.get("scene", ""), params.get("hide", "").split(",")
    hide = tuple(name for name in HIDEABLE if name in hidden)
    shown = ViewOptions(hide=hide, follows=class_code(params.get("class", "")))
    known = number.isascii() and number.isdecimal() and len(number) <= 5 and int(number) > 0
    if not known:
        return shown
    present, lecture = params.get("present", ""), params.get("lecture", "")
    return replace(
        shown,
        scene=min(int(number), LARGEST_SCENE) - 1,
        short=params.get("path") == "short",
        presenting=present in PRESENT,
        exploring=not PRESENT.get(present, True),
        lecture=lecture if lecture.isidentifier() and len(lecture) <= LONGEST_NAME else "",
    )


def class_code(text: str) -> str:
    """A class's code as people type it, or empty if it cannot be one."""
    code = "".join(text.split()).replace("-", "").upper()
    return code if 4 <= len(code) <= 12 and code.isascii() and code.isalnum() else ""


MOST = 256  # places that are remembered
_MASKS = re.compile(re.escape(MASK), re.IGNORECASE)

# What stands before a hidden word, or after it, with a sign for which → the word.
Hidden = Mapping[tuple[str, str], str]


def remembered(hidden: Hidden, sentence: str, start: int, end: int, by: str) -> Hidden:
    """The same once a stretch of the sentence is replaced: a word by a mask, or back."""
    after = sentence[:start] + by + sentence[end:]
    words: dict[tuple[str, str], str] = {}
    for mask in _MASKS.finditer(sentence):  # those that were there go on hiding what they hid
        moved = len(by) - (end - start) if mask.start() >= end else 0
        word = word_behind(hidden, sentence, mask.end())
        if word and not start <= mask.start() < end:
            words |= dict.fromkeys(_places(after, mask.start() + moved, mask.end() + moved), word)
    if by == MASK:
        words |= dict.fromkeys(_places(after, start, start + len(by)), sentence[start:end])
    return dict([*hidden.items(), *words.items()][-MOST:])


def word_behind(hidden: Hidden, sentence: str, end: int) -> str:
    """The word that the mask, which ends there, has hidden; "" if nobody knows.

    It is known as long as all before the mask, or all behind it, is as it was.
    """
    start = end - len(MASK)
    if start < 0 or sentence[start:end].upper() != MASK:
        return ""
    return next((hidden[place] for place in _places(sentence, start, end) if place in hidden), "")


def _places(sentence: str, start: int, end: int) -> list[tuple[str, str]]:
    around = [("before", sentence[:start]), ("after", sentence[end:])]
    return [(side, text) for side, text in around if any(map(str.isalnum, text))]


LARGEST = 10**6  # of any number in a URL
LONGEST_SENTENCE = 2_000
LONGEST_IN_URL = 2_000  # characters that a sentence takes in a URL; servers take about 8,000 in all
HIDDEN = "hidden"  # in a URL, of special tokens
GAP = re.compile("_{3,}")
BLANKS = re.compile(r"[ \t\n\v\f\r]+")
Moved = Mapping[tuple[str, str], tuple[str, str, Mapping[str, str]]]


@dataclass(frozen=True)
class Neuron:
    """One neuron."""

    network: str  # its id
    block: int  # from 0
    index: int  # from 0, within the block

    def __str__(self) -> str:
        """The neuron as people write it: "2:17" is neuron 17 of block 2."""
        return f"{self.block + 1}:{self.index}"


@dataclass(frozen=True)
class State:
    """What a person looks at."""

    page: str  # its id
    part: str  # its id; a page shows one part at a time
    sentence: str  # as typed
    network: str  # the id of the network that drives the page
    block: int  # from 0
    token: int | None  # the chosen token, from 0; None takes the first mask, or else the last word
    neuron: Neuron | None  # the chosen one; None takes the strongest on the chosen token
    order: str  # how neurons are ordered, by its id
    partner: str | None = None  # the id of the network beside it; None takes the usual one, if any
    # this part's settings but the defaults: names and texts as a URL has them, sorted by name
    settings: tuple[tuple[str, str], ...] = ()
    # whether special tokens, such as [CLS], are shown, and counted in `token`
    special: bool = True

    @property
    def subject(self) -> "State":
        """The state without its settings, which no control of a part changes."""
        return replace(self, settings=())


@dataclass(frozen=True)
class Catalog:
    """What there is to look at.

    Raises ValueError if two different settings have the same name, or a part that was moved is
    still there or leads nowhere.
    """

    # page → part → the settings that can be set there; the first of each is opened first
    parts: Mapping[str, Mapping[str, tuple[Setting[Any], ...]]]
    # by their ids; the first drives the page by default
    networks: Mapping[str, NetworkSize]
    orders: tuple[str, ...]  # the ids of the orders of neurons, the default first
    start: str  # the initial sentence
    # former page and part → the page, part and settings that show the same now
    moved: Moved = field(default_factory=dict)
    # gives the names of the pictures that a page can show; None if they are not known
    pictures_of: Callable[[State], Sequence[str]] | None = None

    def __post_init__(self) -> None:
        known: dict[str, Setting[Any]] = dict.fromkeys(_NAMES, _OWN)
        parts = chain.from_iterable(page.values() for page in self.parts.values())
        for setting in chain.from_iterable(parts):
            if known.setdefault(setting.name, setting) is not setting:
                raise ValueError(f"Two settings are called {setting.name!r}.")
        for (page, part), (new_page, new_part, shown) in self.moved.items():
            settings = self.parts.get(new_page, {}).get(new_part)
            if part in self.parts.get(page, {}) or settings is None:
                raise ValueError(f"{page}, {part} cannot have moved to {new_page}, {new_part}.")
            if not set(shown) <= {setting.name for setting in settings}:
                raise ValueError(f"{new_page}, {new_part} lacks some of {', '.join(shown)}.")

    def place(
        self, page: str, part: str, settings: Mapping[str, str]
    ) -> tuple[str, str, Mapping[str, str]]:
        """The page and part of these names, which may be former ones, and the settings for them.

        In place of an unknown page or part it takes the first.
        """
        if (page, part) in self.moved:
            page, part, shown = self.moved[page, part]
            settings = {**settings, **shown}
        page = page if page in self.parts else next(iter(self.parts))
        parts = self.parts[page]
        return page, part if part in parts else next(iter(parts)), settings

    def usual_block(self, network: str) -> int:
        """The last block: in the twins its FFN is the sparsest, and decides most about the word."""
        return self.networks[network].n_blocks - 1

    def has_neuron(self, neuron: Neuron) -> bool:
        """Whether a neuron exists."""
        size = self.networks.get(neuron.network)
        if size is None:
            return False
        return 0 <= neuron.block < size.n_blocks and 0 <= neuron.index < size.d_ff

    def legal(
        self, page: str, part: str, settings: Mapping[str, str]
    ) -> tuple[tuple[str, str], ...]:
        """The settings that the part has, each clamped to its range, without the defaults."""
        kept = {}
        for setting in self.parts[page][part]:
            text = next((settings[name] for name in setting.names if name in settings), None)
            value = setting.default if text is None else setting.parse(text)
            if value != setting.default:
                kept[setting.name] = setting.text(value)
        return tuple(sorted(kept.items()))


_NAMES = ("text", "twin", "block", "token", "neuron", "order", "partner", "part", "special", *NAMES)
_OWN = Setting("", "", lambda _: "", str)


def tidied(sentence: str) -> str:
    """A typed or pasted sentence as it is read.

    A mask is in place of each gap of three or more underscores, one blank in place of tabs, line
    breaks and several blanks; there is none at its ends.
    """
    return BLANKS.sub(" ", GAP.sub(lambda _: MASK, sentence)).strip()


def readable(sentence: str) -> str:
    """As much of a sentence, tidied, as fits into a link."""
    return shortened(tidied(sentence), LONGEST_SENTENCE, LONGEST_IN_URL).rstrip()


def to_url(state: State, catalog: Catalog) -> dict[str, str]:
    """The parameters of the URL that shows a state on its page."""
    params = {"text": state.sentence, "twin": state.network, "block": str(state.block + 1)}
    if state.token is not None:
        params["token"] = str(state.token + 1)
    if state.order != catalog.orders[0]:
        params["order"] = state.order
    if (neuron := state.neuron) is not None:
        # The block only where it is not the page's: links stay short, and old ones had none.
        place = neuron.index if neuron.block == state.block else neuron
        params["neuron"] = f"{neuron.network}-{place}"
    if state.partner is not None:
        params["partner"] = state.partner
    if not state.special:
        params["special"] = HIDDEN
    if state.part != next(iter(catalog.parts[state.page])):
        params["part"] = state.part
    return params | dict(state.settings)


def from_url(page: str, params: Mapping[str, str], catalog: Catalog) -> State:
    """The state that a URL asks for; what it lacks or garbles takes its default."""
    page, part, params = catalog.place(page, params.get("part", ""), params)
    network = params.get("twin", "")
    network = network if network in catalog.networks else next(iter(catalog.networks))
    last = catalog.usual_block(network)
    number = _number(params.get("block"), 1)
    block = last if number is None else min(number - 1, last)
    token = _number(params.get("token"), 1)
    order = params.get("order", "")
    partner = params.get("partner")
    return State(
        page=page,
        part=part,
        sentence=readable(params.get("text", catalog.start)),
        network=network,
        block=block,
        token=None if token is None else token - 1,
        neuron=_read_neuron(params.get("neuron", ""), block, catalog),
        order=order if order in catalog.orders else catalog.orders[0],
        partner=partner if partner in catalog.networks and partner != network else None,
        settings=catalog.legal(page, part, params),
        special=params.get("special") != HIDDEN,
    )


def _read_neuron(text: str, block: int, catalog: Catalog) -> Neuron | None:
    network, _, place = text.rpartition("-")
    number_text, _, index_text = place.rpartition(":")
    number = _number(number_text, 1) if number_text else block + 1
    index = _number(index_text, 0)
    if number is None or index is None:
        return None
    neuron = Neuron(network, number - 1, index)
    return neuron if catalog.has_neuron(neuron) else None


def _number(text: str | None, least: int) -> int | None:
    if text is None or not text.isascii() or not text.isdecimal() or len(text) > 7:
        return None
    return min(LARGEST, max(least, int(text)))
