"""What is asked for and what was computed for it: two frozen values that every page is made of."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.model.model import Model
from ffnviz.model.tokenizer import Token
from ffnviz.model.trace import ForwardPass, Trace, usual_token


@dataclass(frozen=True)
class Request:
    """What a person is looking at.

    Attributes:
        text: the sentence as typed.
        twin: the activation that drives the page, "relu" or "gelu".
        block: from 0.
        token: the chosen token; None takes the first [MASK], or else the last word.
        neuron: a chosen neuron and its twin; None takes the strongest on the chosen token.
        order: how neurons are ordered, one of ffnviz.analysis.ordering.ORDERS.
        device: as PyTorch names it.
    """

    text: str
    twin: str
    block: int
    token: int | None
    neuron: tuple[str, int] | None
    order: str
    device: str


@dataclass(frozen=True)
class TraceTiming:
    """What a trace took when it was computed.

    Attributes:
        total_ms: the whole.
        ffn_ms: the FFNs of all blocks.
    """

    total_ms: float
    ffn_ms: float

    @property
    def ffn_share(self) -> float:
        """The FFNs' part of the whole, from 0 to 1."""
        return min(1.0, self.ffn_ms / self.total_ms)


@dataclass(frozen=True)
class Run:
    """A request and what both twins computed for it; shared between users, so never changed.

    Attributes:
        request: what was asked for.
        models: by the name of the twin.
        traces: by the name of the twin.
        timings: what each trace took when it was computed, by the name of the twin.
        untrained: the trace of the same sentence by a twin as it was before training, by the
            twin's name; computed when first asked for.
        devices: every device there is, by PyTorch's name for it, with what loads the twin that
            drives the page there.
        about_gpu: which GPU was found, or why none.
        once: what depends on the weights of the twin that drives the page, by a name of its own:
            computed when first asked for, then kept for everybody.
    """

    request: Request
    models: Mapping[str, Model]
    traces: Mapping[str, Trace]
    timings: Mapping[str, TraceTiming]
    untrained: Callable[[str], ForwardPass]
    devices: Mapping[str, Callable[[], Model]]
    about_gpu: str
    once: Callable[[str, Callable[[], Any]], Any]

    @property
    def model(self) -> Model:
        """The twin that drives the page."""
        return self.models[self.request.twin]

    @property
    def trace(self) -> Trace:
        """Its trace."""
        return self.traces[self.request.twin]

    @property
    def token(self) -> int:
        """The chosen token, within the sentence."""
        tokens = self.trace.tokens
        if self.request.token is not None:
            return min(self.request.token, len(tokens) - 1)
        return usual_token(tokens, self.model.tokenizer.mask_id)

    @property
    def stamp(self) -> str:
        """What every picture says it shows once it is painted."""
        return repr(self.request)

    @property
    def labels(self) -> list[str]:
        """The tokens in the person's own spelling, with a sign for what cannot be seen.

        "…" goes on with the character of the token before it; ␣, ↵ and ⇥ are blanks; a character
        that has no look of its own, such as the joiner in a family emoji, is given by its number.
        """
        return labels_of(self.trace.tokens)


def labels_of(tokens: Sequence[Token]) -> list[str]:
    """How `Run.labels` writes them, for any sentence's tokens."""
    return [_visible(token.text) or ("…" if place else "␣") for place, token in enumerate(tokens)]


def _visible(text: str) -> str:
    signs = text.replace("\n", "↵").replace("\t", "⇥")
    shown = text.strip() or "".join("␣" if sign.isspace() else sign for sign in signs)
    if all(map(_has_no_look, shown)):
        return " ".join(f"U+{ord(sign):04X}" for sign in shown)
    return shown


def _has_no_look(sign: str) -> bool:
    # Control and format characters, and the selectors that follow an emoji.
    return unicodedata.category(sign) in ("Cc", "Cf") or "\ufe00" <= sign <= "\ufe0f"
