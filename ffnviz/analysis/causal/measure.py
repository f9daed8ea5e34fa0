"""What an intervention is judged by: one number of the logits at a token."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from reprlib import repr as shorten

import torch
from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.models.arguments import check_entry, place_of, plain, texts_of
from ffnviz.models.edit import PLACES
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.token_slice import TraceSlice, usual_token
from ffnviz.models.trace import BlockStages, Trace


def in_whole(trace: Trace, place: int) -> tuple[Trace, int]:
    """The trace of a whole text, and a token's place there, of one that may be a slice of it."""
    if isinstance(trace, TraceSlice):
        return trace.whole, trace.first + place
    return trace, place


def activations(network: Network, block: BlockStages, at: str) -> Tensor:
    """What `Edit(…, at=at)` would change: (*batch, T, d_ff) of "hidden", else (…, d_model)."""
    if at not in PLACES:
        raise ValueError(f"at = {at!r} must be one of {', '.join(PLACES)}.")
    if at == "hidden":
        return block.ffn.hidden
    if at == "ffn":
        return block.ffn.output
    if at == "heads":
        return block.attention.z.transpose(-3, -2).flatten(-2)
    if at == "attention":
        try:
            return block.attention.output
        except NotForThisNetwork:
            require(network, (Capability.PRE_NORM,))
            return block.middle - block.input
    stream: Tensor = getattr(block, at)
    return stream


def place_at(at: str | None, heads: object, otherwise: str) -> str:
    """The place of an intervention: heads are at "heads", all else at its usual place."""
    if at is None:
        return otherwise if heads is None else "heads"
    return at


@torch.no_grad()
def rows_of(network: Network, texts: Iterable[str], block: int, at: str) -> Tensor:
    """The activations there of all typed tokens of many texts, (n, width)."""
    rows = []
    for text in texts_of("reference", texts):
        trace = network.trace(text)
        typed = [place for place, token in enumerate(trace.tokens) if not token.special]
        rows.append(activations(network, trace.blocks[block], at)[typed])
    if not rows:
        raise ValueError("Give texts to take the mean of, or to draw from: reference=[…].")
    if not any(map(len, rows)):
        raise ValueError(
            "The reference texts have no tokens but the tokenizer's own, such as [CLS] and "
            "[SEP]: there is nothing to take the mean of, or to draw from."
        )
    return torch.cat(rows)


# The logits at one token, (…, vocab_size), to a number each, (…).
Measure = Callable[[Tensor], Tensor]
AT_ONCE = 2**26  # hidden values of one block in a batch of interventions


@dataclass(frozen=True)
class LogitDifference:
    """logit(word) − logit(instead); of one word alone, its logit.

    Attributes:
        word: its row in the vocabulary.
        instead: the row of the word it is compared with, if there is one.
        read_as: what the network's vocabulary has in these rows, by which another one is noticed.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> rather = ffnviz.logit_difference(model, "do", "does")
        >>> rather == ffnviz.LogitDifference(rather.word, rather.instead)
        True
        >>> logits = torch.zeros(2, 3, model.sizes.vocab_size)
        >>> rather(logits).shape
        torch.Size([2, 3])
    """

    word: int
    instead: int | None = None
    read_as: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("word", "instead"):
            given = plain(getattr(self, name))
            if type(given) is not int and not (name == "instead" and given is None):
                raise TypeError(
                    f"{name} = {shorten(given)}: give a vocabulary entry; for a word use "
                    "ffnviz.logit_difference."
                )
            object.__setattr__(self, name, given)

    @property
    def terms(self) -> tuple[tuple[int, float], ...]:
        """Each word's entry, and the sign of its logit."""
        first = ((self.word, 1.0),)
        return first if self.instead is None else (*first, (self.instead, -1.0))

    def check(self, vocab_size: int) -> None:
        """Check that its words are in a vocabulary: it may have been made for another.

        Raises:
            ValueError: naming the entry that is not.
        """
        for entry, _ in self.terms:
            check_entry(entry, vocab_size)

    def __call__(self, logits: Tensor) -> Tensor:
        """The number of logits, (…, vocab_size) -> (…)."""
        logit = logits[..., self.word]
        return logit if self.instead is None else logit - logits[..., self.instead]


def logit_difference(
    network: Network, word: str | int, instead: str | int | None = None
) -> LogitDifference:
    """The measure of how much a network prefers one word to another.

    Args:
        network: whose vocabulary it is.
        word: as it stands in a text, with its space if it has one, or its entry.
        instead: the same; None takes the logit of the word alone.

    Raises:
        ValueError: if a word is not a single token.
        NotForThisNetwork: without a word head.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> rather = ffnviz.logit_difference(model, "do", "does")  # logit(do) − logit(does)
        >>> logits = model.trace("How [MASK] they know?").logits_at(1)
        >>> float(rather(logits)) > 0
        True
    """
    require(network, (Capability.WORD_HEAD,))
    made = LogitDifference(
        word_id(network, word), None if instead is None else word_id(network, instead)
    )
    return replace(made, read_as=tuple(network.tokenizer.word(entry) for entry, _ in made.terms))


def check_words(measure: LogitDifference, network: Network) -> None:
    """Check that a measure's words are those of a network's vocabulary."""
    measure.check(network.sizes.vocab_size)
    here = tuple(network.tokenizer.word(entry) for entry, _ in measure.terms)
    if measure.read_as and here != measure.read_as:
        raise ValueError(
            f"This measure was made for another network's vocabulary: its words are "
            f"{', '.join(map(repr, measure.read_as))} there, and {', '.join(map(repr, here))} in "
            f"that of {network.card.label}. Use logit_difference(network, …)."
        )


def measured(network: Network, measure: Measure, logits: Tensor) -> float:
    """A measure of the logits at one token, (vocab_size,), once it is seen to treat rows alone."""
    if not callable(measure):
        raise TypeError(
            f"measure = {measure!r}: give a function of logits, like ffnviz.logit_difference's."
        )
    if isinstance(measure, LogitDifference):
        check_words(measure, network)
    two = torch.stack([logits, logits.flip(-1)])
    one, both = measure(logits), measure(two)
    made: list[tuple[Tensor, object]] = [(logits, one), (two, both)]
    for given, found in made:
        if not isinstance(found, Tensor) or found.shape != given.shape[:-1]:
            shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise TypeError(
                "A measure makes a tensor with one number for each row of logits, (…, vocab_size) "
                f"→ (…); from {tuple(given.shape)} this one makes {shape}. Take the last "
                "dimension: logits[..., word]."
            )
    if not torch.allclose(both[0].double(), one.double(), rtol=1e-3, atol=1e-4, equal_nan=True):
        raise ValueError(
            f"This measure mixes rows: the same logits give {float(one):.4g} alone and "
            f"{float(both[0]):.4g} beside others, and many rows are measured at once. Reduce the "
            "last dimension, dim=-1, not dim=0."
        )
    return float(one)


def telling_words(logits: Tensor, against: Tensor) -> LogitDifference | None:
    """The word that one answer raises most over another, against the one that it lowers most.

    argmax(p − q) and argmin(p − q) of the two softmaxes; None if both say the same.
    """
    gain = logits.double().softmax(-1) - against.double().softmax(-1)
    word, instead = int(gain.argmax()), int(gain.argmin())
    return LogitDifference(word, instead) if gain[word] > 0 > gain[instead] else None


def word_id(network: Network, word: str | int) -> int:
    """The entry of the vocabulary that a word is; warns if it has the word behind a space, too."""
    word = plain(word)
    if type(word) is int:
        check_entry(word, network.sizes.vocab_size)
        return word
    if not isinstance(word, str):
        raise TypeError(f"word = {word!r}: give a word's text, or its entry in the vocabulary.")
    tokens = [token for token in network.tokenizer.encode(word).tokens if not token.special]
    if len(tokens) != 1:
        read = " + ".join(repr(network.tokenizer.word(token.id)) for token in tokens) or "nothing"
        raise ValueError(f"{word!r} is not a single token of this network, but {read}.")
    id_, spaced = tokens[0].id, f" {word}"
    behind = [token.id for token in network.tokenizer.encode(spaced).tokens if not token.special]
    if word[:1].isalnum() and len(behind) == 1 and behind != [id_]:
        warnings.warn(
            f"{word!r} and {spaced!r} are two entries of this network's vocabulary; inside a "
            f"sentence it is the second. Give {spaced!r} if you mean that.",
            stacklevel=3,
        )
    return id_


def judged_at(network: Network, trace: Trace, token: int | None) -> int:
    """The token whose logits are measured: the one asked for, or the usual one; warns in doubt."""
    if token is None:
        place = usual_place(network, trace)
        if doubt := _doubt(network, trace):
            warnings.warn(
                f"This text {doubt}: it is measured at token {place}, "
                f"{trace.tokens[place].text!r}. Say where with token=….",
                stacklevel=4,
            )
        return place
    return place_of("token", token, len(trace.tokens))


def usual_place(network: Network, trace: Trace) -> int:
    """The mask, or the token of most interest; a network that only reads on: the last token."""
    if _reads_on(network):
        return len(trace.tokens) - 1
    return usual_token(trace.tokens, network.tokenizer.mask_id)


def _reads_on(network: Network) -> bool:
    return network.card.causal and not network.card.has_mask


def _doubt(network: Network, trace: Trace) -> str:
    """Why the usual token may not be the one that is meant; or ""."""
    n_masks = sum(token.id == network.tokenizer.mask_id for token in trace.tokens)
    if not _reads_on(network) and n_masks > 1:
        return f"has {n_masks} masks"
    if trace.n_left_out and (_reads_on(network) or not n_masks):
        n = len(trace.tokens)
        return f"has {n + trace.n_left_out:,} tokens, and the network reads the first {n:,}"
    return "" if _reads_on(network) or n_masks else "has no mask"


def at_once(network: Network, n_tokens: int) -> int:
    """How many passes over so many tokens fit into one batch."""
    return max(1, AT_ONCE // (n_tokens * network.sizes.d_ff))
