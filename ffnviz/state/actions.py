"""What a person can ask for, and the state that follows from it: pure functions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.state.state import Catalog, Neuron, State, from_url, readable, to_url


@dataclass(frozen=True)
class Type:
    """Another sentence; `keep_token` if the text up to the chosen token is unchanged."""

    sentence: str
    keep_token: bool = False


@dataclass(frozen=True)
class HideWord:
    """A stretch of the sentence becomes a mask, which is then the chosen token."""

    start: int  # a character position in the sentence
    end: int
    token: int  # the place among the tokens that the mask will have, from 0


@dataclass(frozen=True)
class ShowWord:
    """The word that a mask has hidden is back, and chosen."""

    end: int  # of the mask, a character position in the sentence
    word: str
    token: int  # the place among the tokens that the word will have, from 0


@dataclass(frozen=True)
class ChooseToken:
    """Another token drives the page."""

    token: int  # its place, from 0


@dataclass(frozen=True)
class ShowSpecial:
    """Special tokens, such as [CLS], are shown and counted, or not."""

    shown: bool
    token: int  # the place that the chosen token then has, from 0


@dataclass(frozen=True)
class ChooseOrder:
    """The neurons are shown in another order."""

    order: str  # as analysis.journey.ordering has them


@dataclass(frozen=True)
class ChooseNetwork:
    """Another network drives the page."""

    network: str  # its id


@dataclass(frozen=True)
class ChoosePartner:
    """Another network is the partner; None takes the usual one."""

    network: str | None


@dataclass(frozen=True)
class ChooseBlock:
    """Another block, from 0; the chosen neuron becomes the one of that number there."""

    block: int
    settings: Mapping[str, str] = field(default_factory=dict)  # of this part that are set with it


@dataclass(frozen=True)
class ChooseNeuron:
    """A neuron is chosen, on whatever page."""

    neuron: Neuron
    token: int | None = None  # that is chosen with it, if any


@dataclass(frozen=True)
class OpenPage:
    """Turn to a part of a page, with these settings; "" is the page's first part."""

    page: str
    part: str = ""
    settings: Mapping[str, str] | None = None


@dataclass(frozen=True)
class OpenNeuron:
    """Turn to a part on which a neuron is shown: its network and block then drive the page."""

    neuron: Neuron
    page: str
    part: str
    token: int | None = None
    settings: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Set:
    """Settings of this part get another text; None takes the default."""

    settings: Mapping[str, str | None]


@dataclass(frozen=True)
class ShowState:
    """All of another state, such as that of a lecture's scene."""

    state: State


Action = (
    Type | HideWord | ShowWord | ChooseToken | ShowSpecial | ChooseOrder | ChooseNetwork
    | ChoosePartner | ChooseBlock | ChooseNeuron | OpenPage | OpenNeuron | Set | ShowState
)  # fmt: skip


def reduce(state: State, action: Action, catalog: Catalog) -> State:
    """The state after an action; an action that asks for what does not exist changes nothing."""
    match action:
        case Type(sentence, keep_token):
            token = state.token if keep_token else None
            return replace(state, sentence=readable(sentence), token=token)
        case HideWord(start, end, token):
            if not (0 <= start < end <= len(state.sentence) and token >= 0):
                return state
            hidden = state.sentence[:start] + MASK + state.sentence[end:]
            return replace(state, sentence=readable(hidden), token=token)
        case ShowWord(end, word, token):
            start = end - len(MASK)
            if start < 0 or state.sentence[start:end].upper() != MASK or token < 0:
                return state
            shown = state.sentence[:start] + word + state.sentence[end:]
            return replace(state, sentence=readable(shown), token=token)
        case ChooseToken(token):
            return replace(state, token=token) if token >= 0 else state
        case ShowSpecial(shown, token):
            return replace(state, special=shown, token=max(0, token))
        case ChooseNetwork(network):
            return _with_network(state, network, catalog)
        case ChoosePartner(network):
            known = network is None or (network in catalog.networks and network != state.network)
            return replace(state, partner=network) if known else state
        case ChooseBlock(block, settings):
            chosen = _with_block(state, block, catalog)
            return chosen if chosen is state else reduce(chosen, Set(settings), catalog)
        case ChooseNeuron(neuron, token):
            if not catalog.has_neuron(neuron):
                return state
            return replace(state, neuron=neuron, token=state.token if token is None else token)
        case ChooseOrder(order):
            return replace(state, order=order) if order in catalog.orders else state
        case OpenPage(page, part, settings):
            return _with_part(state, page, part, settings, catalog)
        case OpenNeuron(neuron, page, part, token, settings):
            if not catalog.has_neuron(neuron):
                return state
            moved = _with_network(state, neuron.network, catalog)
            moved = _with_block(moved, neuron.block, catalog)
            token = state.token if token is None else token
            moved = replace(moved, neuron=neuron, token=token)
            return _with_part(moved, page, part, settings, catalog)
        case Set(settings):
            texts = {k: v for k, v in {**dict(state.settings), **settings}.items() if v is not None}
            return replace(state, settings=catalog.legal(state.page, state.part, texts))
        case ShowState(wanted):
            return from_url(wanted.page, to_url(wanted, catalog), catalog)
        case _:
            assert_never(action)


def _with_network(state: State, network: str, catalog: Catalog) -> State:
    if network not in catalog.networks or network == state.network:
        return state
    # Subject and partner change places where the new subject was the chosen partner.
    partner = state.network if state.partner == network else state.partner
    moved = replace(state, network=network, partner=partner)
    return _with_block(moved, min(state.block, catalog.usual_block(network)), catalog)


def _with_block(state: State, block: int, catalog: Catalog) -> State:
    if not 0 <= block <= catalog.usual_block(state.network):
        return state
    neuron = state.neuron and replace(state.neuron, block=block)
    kept = neuron if neuron and catalog.has_neuron(neuron) else None
    return replace(state, block=block, neuron=kept)


def _with_part(
    state: State, page: str, part: str, settings: Mapping[str, str] | None, catalog: Catalog
) -> State:
    if page not in catalog.parts:
        return state
    page, part, settings = catalog.place(page, part, settings or {})
    return replace(state, page=page, part=part, settings=catalog.legal(page, part, settings))
