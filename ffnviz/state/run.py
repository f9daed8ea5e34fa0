"""A state and what is computed for it: the one value that every page is made of."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar
from unicodedata import category

from ffnviz.analysis.needs import Capability, capabilities
from ffnviz.models.card import Card, NetworkSize
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.models.network import Network
from ffnviz.models.token_slice import index_in_full, token_slice, usual_token, words_among
from ffnviz.models.trace import ForwardPass, Trace
from ffnviz.state.state import Neuron, State


def aligned_tokens(tokens: Sequence[Token], others: Sequence[Token]) -> list[int]:
    """For each token the place of the other tokenizer's token that reads its last character.

    A token without characters, such as [CLS] or a later byte of one character, takes the other
    at the same position: the first, the last, or that of the token before it.
    """
    with_text = [place for place, other in enumerate(others) if other.text]
    ends = [others[place].end for place in with_text]
    places: list[int] = []
    for place, token in enumerate(tokens):
        if token.text and with_text:
            at = bisect_right(ends, token.end - 1)
            places.append(with_text[min(at, len(with_text) - 1)])
        elif place == 0:
            places.append(0)
        elif place == len(tokens) - 1:
            places.append(len(others) - 1)
        else:
            places.append(min(places[-1], len(others) - 1))
    return places


T = TypeVar("T")


@dataclass(frozen=True)
class TraceTiming:
    """The time that a trace takes, the quickest of a few passes."""

    total_ms: float  # the whole
    ffn_ms: float  # the FFNs of all blocks

    @property
    def ffn_share(self) -> float:
        """The FFNs' part of the whole, from 0 to 1."""
        return min(1.0, self.ffn_ms / self.total_ms)


@dataclass(frozen=True)
class TracedModel:
    """A network and what it computes for the sentence, each value on demand.

    It holds no trace, so a button's callback may keep it: the cache alone holds traces.
    """

    network: Network
    text: str  # the sentence
    # a value by its name, from the cache, or computed
    cached: Callable[[tuple[Any, ...], Callable[[], Any]], Any]
    new_trace: Callable[[], Trace]  # traces the sentence
    new_untrained: Callable[[], ForwardPass]  # traces it with the network before its training
    new_timing: Callable[[], TraceTiming]  # measures what a trace of so many tokens takes
    special: bool = True  # whether special tokens, such as [CLS], are shown and counted

    @property
    def card(self) -> Card:
        """What the network is."""
        return self.network.card

    @property
    def whole(self) -> Trace:
        """The trace of the sentence with all tokens."""
        trace: Trace = self.cached(("trace", self.text), self.new_trace)
        return trace

    @property
    def trace(self) -> Trace:
        """The trace of the tokens that are shown and counted."""
        return self.shown(self.whole)

    def shown(self, trace: Trace) -> Trace:
        """The part of any of its traces that is shown and counted."""
        return trace if self.special else token_slice(trace, words_among(trace.tokens))

    @property
    def untrained(self) -> ForwardPass:
        """The trace of the same sentence by the network before its training."""
        trace: ForwardPass = self.cached(("untrained trace", self.text), self.new_untrained)
        return trace

    @property
    def timing(self) -> TraceTiming:
        """The time that a trace of so many tokens takes, measured once for each length."""
        return self.per_network(f"timing {len(self.whole.tokens)} tokens", self.new_timing)

    def per_network(self, name: str, compute: Callable[[], T]) -> T:
        """A value that depends on the weights alone, computed once and kept for all."""
        value: T = self.cached((name,), compute)
        return value

    def per_sentence(self, name: tuple[Any, ...], compute: Callable[[], T]) -> T:
        """A value that depends on the sentence too, and on what else the name has."""
        counted = () if self.special else ("without special tokens",)
        value: T = self.cached((*name, *counted, self.text), compute)
        return value


@dataclass(frozen=True)
class Run:
    """A state and the networks that read its sentence."""

    state: State
    device: str  # where the networks run, as PyTorch names it
    subject: TracedModel  # the network that drives the page
    partner: TracedModel | None  # the one beside it, if there is one
    # the devices of this machine by PyTorch's names, with what loads the subject there
    devices: Mapping[str, Callable[[], Network]]
    about_gpu: str  # which GPU was found, or why none
    networks: Mapping[str, NetworkSize]  # all to choose from, by their ids

    @property
    def model(self) -> Network:
        """The network that drives the page."""
        return self.subject.network

    @property
    def card(self) -> Card:
        """The card of the network that drives the page."""
        return self.subject.card

    @cached_property
    def capabilities(self) -> frozenset[Capability]:
        """What it has, and whether there is a partner."""
        return capabilities(self.card, self.partner is not None)

    @cached_property
    def both(self) -> tuple[TracedModel, ...]:
        """The subject, and the partner if there is one, in the order of all pictures."""
        shown = [self.subject, *([self.partner] if self.partner else [])]
        return tuple(sorted(shown, key=lambda traced: traced.card.id, reverse=True))

    def traced_model(self, network: str) -> TracedModel:
        """The traced model of a network's id; the subject if neither has it."""
        return next((each for each in self.both if each.card.id == network), self.subject)

    @property
    def trace(self) -> Trace:
        """The subject's trace of the tokens that are shown and counted."""
        return self.subject.trace

    @cached_property
    def token(self) -> int:
        """The chosen token's place in `trace`."""
        tokens = self.trace.tokens
        if self.state.token is not None:
            return min(self.state.token, len(tokens) - 1)
        return usual_token(tokens, self.model.tokenizer.mask_id)

    @property
    def whole(self) -> Trace:
        """The subject's trace of all tokens, for further computation."""
        return self.subject.whole

    @cached_property
    def place(self) -> int:
        """The chosen token's place in `whole`."""
        return index_in_full(self.trace, self.token)

    @cached_property
    def special(self) -> tuple[str, ...]:
        """The names of the special tokens that the network reads with the sentence, each once."""
        return tuple(dict.fromkeys(token.special for token in self.whole.tokens if token.special))

    def block_of(self, traced: TracedModel) -> int:
        """The block that is shown of a network: the chosen one, or its last if it has fewer."""
        return min(self.state.block, traced.network.sizes.n_blocks - 1)

    def tokens_of(self, traced: TracedModel) -> list[int]:
        """For each token the place of the network's own token that reads the same characters."""
        own = self.trace.tokens
        if traced is self.subject:
            return list(range(len(own)))
        return aligned_tokens(own, traced.trace.tokens)

    def neuron(self, index: int) -> Neuron:
        """A neuron of the chosen block."""
        return Neuron(self.card.id, self.state.block, index)

    @property
    def stamp(self) -> str:
        """The mark by which a painted picture says which state it shows."""
        return repr(self.state.subject)

    @property
    def labels(self) -> list[str]:
        """The tokens as they were typed, with a sign for what cannot be seen.

        "…" continues the character of the token before it; ␣, ↵ and ⇥ are blanks; a token that
        the tokenizer added has its name, such as [CLS]; a character without a glyph, such as the
        joiner in a family emoji, is given by its number.
        """
        return token_labels(self.trace.tokens)

    @property
    def joins(self) -> list[bool]:
        """Of each token, whether it goes on with the character of the token before it."""
        return [
            place > 0 and not token.text and not token.special
            for place, token in enumerate(self.trace.tokens)
        ]


def token_labels(tokens: Sequence[Token]) -> list[str]:
    """The labels of any sentence's tokens, as `Run.labels` writes them."""
    return list(_labels(tuple(tokens)))


@lru_cache(64)  # one page asks for them seven times
def _labels(tokens: tuple[Token, ...]) -> tuple[str, ...]:
    return tuple(
        _visible(token.text) or token.special or ("…" if place else "␣")
        for place, token in enumerate(tokens)
    )


def _visible(text: str) -> str:
    # Soft hyphens and marks of direction have no token of their own; a joiner is part of an emoji.
    read = [sign for sign in text if category(sign) != "Cf" or sign == "\u200d"]
    text = "".join(read) or text
    signs = text.replace("\n", "↵").replace("\t", "⇥")
    shown = text.strip() or "".join(["␣" if sign.isspace() else sign for sign in signs])
    # Control and format characters, and the selectors that follow an emoji, have no glyph.
    if all(category(sign) in ("Cc", "Cf") or "\ufe00" <= sign <= "\ufe0f" for sign in shown):
        return " ".join(f"U+{ord(sign):04X}" for sign in shown)
    return shown
