"""What an intervention is judged by: one number of the logits at a token."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.models.network import Network
from ffnviz.models.token_slice import usual_token
from ffnviz.models.trace import Trace

# The logits at one token, (…, vocab_size), to a number each, (…).
Measure = Callable[[Tensor], Tensor]
AT_ONCE = 2**26  # hidden values of one block in a batch of interventions


@dataclass(frozen=True)
class LogitDifference:
    """logit(word) − logit(instead); of one word alone, its logit.

    Attributes:
        word: its row in the vocabulary.
        instead: the row of the word it is compared with, if there is one.
    """

    word: int
    instead: int | None = None

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
        ValueError: if a word is no one token.
        NotForThisNetwork: without a word head.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> rather = ffnviz.logit_difference(model, "do", "does")  # logit(do) − logit(does)
        >>> logits = model.trace("How [MASK] they know?").logits_at(1)
        >>> float(rather(logits)) > 0
        True
    """
    require(network, (Capability.WORD_HEAD,))
    return LogitDifference(
        word_id(network, word), None if instead is None else word_id(network, instead)
    )


def telling_words(logits: Tensor, against: Tensor) -> LogitDifference | None:
    """The word that one answer raises most over another, against the one that it lowers most.

    argmax(p − q) and argmin(p − q) of the two softmaxes p and q, so that their difference is
    larger in the first answer than in the second; None if both say the same.

    Args:
        logits: of the first answer, (vocab_size,).
        against: of the other, (vocab_size,).
    """
    gain = logits.double().softmax(-1) - against.double().softmax(-1)
    word, instead = int(gain.argmax()), int(gain.argmin())
    return LogitDifference(word, instead) if gain[word] > 0 > gain[instead] else None


def word_id(network: Network, word: str | int) -> int:
    """The entry of the vocabulary that a word is.

    Raises:
        ValueError: if there is no such entry, or the word is no one token.

    Warns:
        UserWarning: if the vocabulary has the word behind a space, too, and it is given without.
    """
    if isinstance(word, int):
        if not 0 <= word < network.sizes.vocab_size:
            raise ValueError(
                f"There is no entry {word} in the vocabulary: they count from 0 to "
                f"{network.sizes.vocab_size - 1:,}."
            )
        return word
    tokens = [token for token in network.tokenizer.encode(word).tokens if not token.special]
    if len(tokens) != 1:
        read = " + ".join(repr(network.tokenizer.word(token.id)) for token in tokens) or "nothing"
        raise ValueError(f"{word!r} is no one token of this network, but {read}.")
    id_, spaced = tokens[0].id, f" {word}"
    behind = [token.id for token in network.tokenizer.encode(spaced).tokens if not token.special]
    if word[:1].isalnum() and len(behind) == 1 and behind != [id_]:
        warnings.warn(
            f"{word!r} and {spaced!r} are two entries of this network's vocabulary, and inside a "
            f"sentence a word is the second. Give {spaced!r}, if that is meant.", stacklevel=3,
        )  # fmt: skip
    return id_


def network_of(trace: Trace) -> Network:
    """The network that made a trace.

    Raises:
        ValueError: if it was saved or pickled, which leaves its network out.
    """
    if trace.network is None:
        raise ValueError(
            "This trace was saved or pickled, which leaves its network out. Trace the text again."
        )
    network: Network = trace.network
    return network


def judged_at(network: Network, trace: Trace, token: int | None) -> int:
    """The token whose logits are measured: the one asked for, or else the usual one.

    Raises:
        ValueError: if there is no such token.
    """
    n = len(trace.tokens)
    if token is None:
        if network.card.causal and not network.card.has_mask:
            return n - 1
        return usual_token(trace.tokens, network.tokenizer.mask_id)
    if not -n <= token < n:
        raise ValueError(f"There is no token {token}: they count from 0 to {n - 1}.")
    return range(n)[token]


def at_once(network: Network, n_tokens: int) -> int:
    """How many passes over so many tokens fit into one batch."""
    return max(1, AT_ONCE // (n_tokens * network.sizes.d_ff))
