"""What is looked at, as one frozen value that is also a URL.

The link in the address bar, a step of Back, what a click asks for: all are a State. It knows no
Streamlit and no network; what there is to be looked at is told by a House.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.state.settings import Setting, shortened
from ffnviz.state.view_options import NAMES as SHOWING

LARGEST = 10**6  # of any number in a URL
LONGEST_SENTENCE = 2_000
ROOM_FOR_SENTENCE = 2_000  # characters of the URL; servers take about 8,000 in all
HIDDEN = "hidden"  # in a URL, of special tokens
GAP = re.compile("_{3,}")
Moved = Mapping[tuple[str, str], tuple[str, str, Mapping[str, str]]]


@dataclass(frozen=True)
class Neuron:
    """One hidden unit."""

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
    # the id of the network beside it; None takes the usual one, if there is any
    partner: str | None = None
    # what was set on this part, by the settings' names: texts as a URL has them, sorted by name,
    # none of them the default
    settings: tuple[tuple[str, str], ...] = ()
    # whether special tokens, such as [CLS], are shown and counted. If not, tokens are counted
    # without them
    special: bool = True

    def setting(self, name: str) -> str | None:
        """The text of a setting; None if nobody set it."""
        return dict(self.settings).get(name)

    @property
    def subject(self) -> "State":
        """The state without its settings, which no control of a part changes."""
        return replace(self, settings=())


@dataclass(frozen=True)
class Catalog:
    """What there is to be looked at.

    Raises:
        ValueError: if two different settings have the same name, or what was moved is still there
            or leads nowhere.
    """

    # page → part → the settings that can be set there; the first of each is opened first
    parts: Mapping[str, Mapping[str, tuple[Setting[Any], ...]]]
    # by their ids; the first drives the page until somebody chooses
    networks: Mapping[str, NetworkSize]
    orders: tuple[str, ...]  # the ids of the orders that neurons can stand in, the usual one first
    start: str  # the sentence one begins with
    # former page and part → the page and part where its content is now, and the settings that show
    # it
    moved: Moved = field(default_factory=dict)

    def __post_init__(self) -> None:
        known: dict[str, Setting[Any]] = dict.fromkeys(_NAMES, _OWN)
        for part in (part for page in self.parts.values() for part in page.values()):
            for setting in part:
                if known.setdefault(setting.name, setting) is not setting:
                    raise ValueError(f"Two settings are called {setting.name!r}.")
        for (page, former), (to, now, shown) in self.moved.items():
            there = self.parts.get(to, {}).get(now)
            if former in self.parts.get(page, {}) or there is None:
                raise ValueError(f"{page}, {former} cannot have moved to {to}, {now}.")
            if not set(shown) <= {setting.name for setting in there}:
                raise ValueError(f"{to}, {now} has not all of {', '.join(shown)}.")

    def settings_of(self, page: str, part: str) -> tuple[Setting[Any], ...]:
        """The settings of a part."""
        return self.parts[page][part]

    def place(
        self, page: str, part: str, settings: Mapping[str, str]
    ) -> tuple[str, str, Mapping[str, str]]:
        """Where a page's part is, by its name or a former one, and the settings that show it.

        Of a page that is not there the first is taken, and of a part likewise.
        """
        if (page, part) in self.moved:
            page, part, shown = self.moved[page, part]
            settings = {**settings, **shown}
        page = page if page in self.parts else next(iter(self.parts))
        parts = self.parts[page]
        return page, part if part in parts else next(iter(parts)), settings

    def usual_block(self, network: str) -> int:
        """The last block: of the twins, its FFN is the sparsest and decides most about the word."""
        return self.networks[network].n_blocks - 1

    def has_neuron(self, neuron: Neuron) -> bool:
        """Whether a neuron exists."""
        size = self.networks.get(neuron.network)
        return (
            size is not None and 0 <= neuron.block < size.n_blocks and 0 <= neuron.index < size.d_ff
        )

    def legal(
        self, page: str, part: str, settings: Mapping[str, str]
    ) -> tuple[tuple[str, str], ...]:
        """Those of the settings that the part has, each brought into its range; no defaults."""
        kept = {}
        for setting in self.settings_of(page, part):
            text = next((settings[name] for name in setting.names if name in settings), None)
            value = setting.default if text is None else setting.parse(text)
            if value != setting.default:
                kept[setting.name] = setting.text(value)
        return tuple(sorted(kept.items()))


_NAMES = (
    "text", "twin", "block", "token", "neuron", "order", "partner", "part", "special", *SHOWING
)  # fmt: skip
_OWN = Setting("", "", lambda _: "", str)


def with_masks(sentence: str) -> str:
    """A typed sentence with each gap, three or more underscores, as the mask that it stands for."""
    return GAP.sub(lambda _: MASK, sentence)


def readable(sentence: str) -> str:
    """As much of a sentence as a link has room for, its gaps as masks."""
    return shortened(with_masks(sentence), LONGEST_SENTENCE, ROOM_FOR_SENTENCE)


def to_url(state: State, catalog: Catalog) -> dict[str, str]:
    """The parameters of the URL that shows a state on its page."""
    params = {
        "text": state.sentence,
        "twin": state.network,
        "block": str(state.block + 1),
    }
    if state.token is not None:
        params["token"] = str(state.token + 1)
    if state.order != catalog.orders[0]:
        params["order"] = state.order
    if state.neuron is not None:
        params["neuron"] = _written_neuron(state.neuron, state.block)
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
    block = _number(params.get("block"), 1)
    last = catalog.usual_block(network)
    token = _number(params.get("token"), 1)
    order = params.get("order", "")
    partner = params.get("partner")
    at = last if block is None else min(block - 1, last)
    return State(
        page=page,
        part=part,
        sentence=readable(params.get("text", catalog.start)),
        network=network,
        block=at,
        token=None if token is None else token - 1,
        neuron=_read_neuron(params.get("neuron", ""), at, catalog),
        order=order if order in catalog.orders else catalog.orders[0],
        partner=partner if partner in catalog.networks and partner != network else None,
        settings=catalog.legal(page, part, params),
        special=params.get("special") != HIDDEN,
    )


def _written_neuron(neuron: Neuron, block: int) -> str:
    # The block is written only where it is another than the page's: links stay short, and those of
    # old had none.
    return f"{neuron.network}-{neuron.index if neuron.block == block else neuron}"


def _read_neuron(text: str, block: int, catalog: Catalog) -> Neuron | None:
    network, _, place = text.rpartition("-")
    number, _, index = place.rpartition(":")
    where = _number(number, 1) if number else block + 1
    what = _number(index, 0)
    if where is None or what is None:
        return None
    neuron = Neuron(network, where - 1, what)
    return neuron if catalog.has_neuron(neuron) else None


def _number(text: str | None, least: int) -> int | None:
    if text is None or not text.isascii() or not text.isdecimal() or len(text) > 7:
        return None
    return min(LARGEST, max(least, int(text)))
