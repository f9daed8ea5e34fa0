"""A dictionary's features on a text: what they miss, where they are strongest, what they write."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from reprlib import repr as shorten
from typing import SupportsIndex

import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor

from ffnviz.analysis.causal.measure import activations, judged_at
from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.neurons.memory import RankedWords, words_of
from ffnviz.analysis.prediction import divergence
from ffnviz.models.arguments import Which, at_least, kept_numbers, place_of, places_of, texts_of
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network, check_network, network_of
from ffnviz.models.sae import Sae, SaeError
from ffnviz.models.token_slice import TraceSlice
from ffnviz.models.trace import ForwardPass, Trace


@dataclass(frozen=True, eq=False)
class Features(Comparable):
    """A dictionary's features on the tokens of a text.

    Attributes:
        values: each feature's activation, (T, d_sae).
        x: what the dictionary takes apart, (T, d_in).
        reconstruction: x̂, the sum of what the features write, (T, d_in).
        n_left_out: of `unexplained`: 1 for a dictionary trained on texts that begin with a token of
            their own, as that token, or the one in its place, has a vector like no other; else 0.

    Examples:
        >>> trace = ffnviz.load("relu").trace("How [MASK] they know?")
        >>> found = ffnviz.sae_features(trace, sae)
        >>> found.values.shape, found.active.shape, found.unexplained
        (torch.Size([5, 2048]), torch.Size([5]), 0.0)
    """

    values: Float[Tensor, "tokens d_sae"]
    x: Float[Tensor, "tokens d_in"]
    reconstruction: Float[Tensor, "tokens d_in"]
    n_left_out: int = 0

    @property
    def active(self) -> Tensor:
        """How many features are above zero on each token, (T,)."""
        return (self.values > 0).sum(dim=-1)

    @property
    def unexplained(self) -> float:
        """Σ‖x − x̂‖² / Σ‖x − mean‖² over the tokens: 0 is exact, 1 as bad as their mean.

        It may be above 1, and is NaN where all rows are equal, as one alone is.
        """
        x, made = self.x[self.n_left_out :].double(), self.reconstruction[self.n_left_out :]
        error = x - made.double()
        variance = (x - x.mean(dim=0)).square().sum()
        return float(error.square().sum() / variance) if variance > 0 else float("nan")

    @property
    def missed(self) -> Tensor:
        """‖x − x̂‖ / ‖x‖ on each token, (T,)."""
        missed: Tensor = (self.x - self.reconstruction).norm(dim=-1) / self.x.norm(dim=-1)
        return missed


def sae_features(trace: Trace, sae: Sae) -> Features:
    """A dictionary's features on each token of a text, and what they miss.

    Args:
        trace: of a text.
        sae: a dictionary of the network's activations at a place, from `read_sae`.

    Raises:
        SaeError: a ValueError, if the network has no such place, or it has another width there.

    Warns:
        UserWarning: if the dictionary was trained on texts that begin with a token of their own,
            and this one does not.

    Examples:
        >>> trace = ffnviz.load("relu").trace("She opened the [MASK].")
        >>> features = ffnviz.sae_features(trace, sae)
        >>> torch.equal(features.values, trace.blocks[1].ffn.hidden), features.unexplained
        (True, 0.0)
    """
    network = network_of(trace)
    check_fit(network, sae)
    warn_without_start(network, trace, sae)
    return features_of(network, trace, sae)


def without_start(network: Network, trace: ForwardPass, sae: Sae) -> str:
    """That a dictionary's texts begin with a token that a whole trace has not, in words; or ""."""
    tokenizer = network.tokenizer
    first = int(trace.ids[0])
    if not sae.prepend_bos or first in tokenizer.special_ids - {tokenizer.mask_id}:
        return ""
    return (
        f"{sae.name} was trained on texts that begin with a special token (prepend_bos). This "
        "text has none: its features may differ, most of all on the first token, which is not "
        "counted in the unexplained variance."
    )


def warn_without_start(network: Network, trace: ForwardPass, sae: Sae) -> None:
    """Warn whoever called a public function with a text that has no such token."""
    if said := without_start(network, trace, sae):
        warnings.warn(said, stacklevel=3)


@torch.no_grad()
def features_of(network: Network, trace: ForwardPass, sae: Sae) -> Features:
    """The same of any pass, given its network."""
    check_fit(network, sae)
    x = activations(network, trace.blocks[sae.block], sae.at).float()
    if isinstance(trace, TraceSlice) and sae.at in ("attention", "heads"):
        x = x[trace.first : trace.first + len(trace.ids)]  # its blocks have the whole attention's
    values = sae.encode(x.to(sae.w_enc.device))
    made = sae.decode(values, x.to(sae.w_enc.device)).to(x)
    return Features(values, x, made, n_left_out=int(sae.prepend_bos))


def check_fit(network: Network, sae: Sae) -> None:
    """Check that a network has the activations that a dictionary takes apart."""
    check_network(network)
    if not isinstance(sae, Sae):
        raise TypeError(f"sae = {shorten(sae)}: give a dictionary, as ffnviz.read_sae reads it.")
    sae.check(network.sizes, network.card.label, network.head_shape)
    if sae.at in ("ffn", "attention") and network.ffn(sae.block).write_norm is not None:
        raise SaeError(
            f"{sae.name} decomposes what comes out of a norm; for {network.card.label}, only "
            "the values before that norm are known here."
        )


EXAMPLES = 12


@dataclass(frozen=True, eq=False)
class FeatureExamples(Comparable):
    """Where each feature of a dictionary is strongest.

    Attributes:
        values: its largest values, one a text, the largest first, (k, d_sae); 0 where it is active
            in fewer than k texts.
        texts: the numbers of those texts, (k, d_sae).
        tokens: at which of their tokens, (k, d_sae).
        active: on how many tokens it is active, (d_sae,).
        n_tokens: of all texts.
        read: the texts.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> found = ffnviz.sae_examples(model, sae, ["She sat.", "He lit a [MASK]."], k=1)
        >>> found.values.shape, found.texts.shape, found.active.shape, found.read[1]
        (torch.Size([1, 2048]), torch.Size([1, 2048]), torch.Size([2048]), 'He lit a [MASK].')
    """

    values: Float32[Tensor, "k d_sae"]
    texts: Int64[Tensor, "k d_sae"]
    tokens: Int64[Tensor, "k d_sae"]
    active: Int64[Tensor, "d_sae"]
    n_tokens: int
    read: tuple[str, ...]


@torch.no_grad()
def sae_examples(
    network: Network,
    sae: Sae,
    texts: Iterable[str],
    k: int = EXAMPLES,
    progress: Callable[[int], None] | None = None,
) -> FeatureExamples:
    """The k texts in which each feature is most active, in one pass over texts that are kept.

    Args:
        network: any.
        sae: a dictionary of its activations at a place, from `read_sae`.
        texts: each read by itself.
        k: how many for each feature, at most.
        progress: told after each text how many are done.

    Raises:
        TypeError: if one text is given instead of several.
        ValueError: if there are none.
        SaeError: a ValueError, if the dictionary does not fit.

    Warns:
        UserWarning: if the dictionary's texts began with a token of their own, and the first of
            these does not.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> result = ffnviz.sae_examples(model, sae, ["She sat.", "He lit a [MASK]."], k=2)
        >>> result.values.shape, result.n_tokens
        (torch.Size([2, 2048]), 8)
    """
    check_fit(network, sae)
    k = at_least("k", k)
    best = torch.zeros(k, sae.d_sae)
    where = torch.zeros(2, k, sae.d_sae, dtype=torch.long)
    active, n_tokens, read = torch.zeros(sae.d_sae, dtype=torch.long), 0, []
    for number, text in enumerate(texts_of("texts", texts)):
        trace = network.trace(text)
        if not number:
            warn_without_start(network, trace, sae)
        values = features_of(network, trace, sae).values.cpu()
        highest, token = values.max(dim=0)
        places = torch.stack([torch.full_like(token, number), token])
        ranked, order = torch.cat([best, highest[None]]).sort(dim=0, descending=True, stable=True)
        best = ranked[:k]
        where = torch.cat([where, places[:, None]], dim=1).gather(1, order[:k].expand(2, -1, -1))
        active += (values > 0).sum(dim=0)
        n_tokens += len(values)
        read.append(text)
        if progress is not None:
            progress(number + 1)
    if not read:
        raise ValueError("There are no texts: give some, texts=[…].")
    return FeatureExamples(best, where[0], where[1], active, n_tokens, tuple(read))


WORDS_NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS)


@torch.no_grad()
def direction(network: Network, sae: Sae, feature: int) -> Tensor:
    """What a feature of activation 1 adds to the stream, (d_model,).

    Its row of W_dec; in a dictionary of hidden neurons, W_dec[f] W₂; of heads, W_dec[f] W_O.

    Raises:
        SaeError: if there is no such feature, or the dictionary does not fit.
    """
    check_fit(network, sae)
    try:
        feature = place_of("feature", feature, sae.d_sae, from_end=False)
    except ValueError as error:
        raise SaeError(str(error)) from None
    ffn = network.ffn(sae.block)
    written = sae.w_dec[feature].to(ffn.values)
    if sae.at == "heads":
        return written @ network.heads(sae.block).outputs.flatten(0, 1)
    return written @ ffn.values if sae.at == "hidden" else written


def sae_words(
    network: Network, sae: Sae, feature: int, k: int = 10
) -> tuple[RankedWords, RankedWords]:
    """The k words that a feature of activation 1 promotes most and suppresses most.

    Its direction in the stream is read through the final norm's centring and gain and the output
    matrix (the logit lens), before the division by the stream's standard deviation, as a neuron's
    value is. What later blocks make of it is not counted.

    Raises:
        SaeError: a ValueError, if there is no such feature, or the dictionary does not fit.
        NotForThisNetwork: without a plain word head.

    Examples:
        >>> promoted, suppressed = ffnviz.sae_words(ffnviz.load("relu"), sae, feature=1709, k=3)
        >>> promoted.scores.shape, bool(promoted.scores[0] > 0 > suppressed.scores[0])
        (torch.Size([3]), True)
    """
    return words_of(network, direction(network, sae, feature), at_least("k", k, 0))


ERROR_NEEDS = (Capability.WORD_HEAD,)


@dataclass(frozen=True, eq=False)
class Replaced:
    """The pass over a text with x̂ in the place of x.

    Attributes:
        plain: the pass as it is.
        trace: the pass with x̂.
        unexplained: Σ‖x − x̂‖² / Σ‖x − mean‖² over the tokens.
        token: where the answer is judged.
        divergence: KL(plain ‖ with x̂) of the answer there, in nats.
        without: the same with zero in the place of x, to compare with.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> told = ffnviz.sae_error(model, trace.text, sae)
        >>> told.token, round(told.divergence, 6), told.without > 0
        (1, 0.0, True)
    """

    plain: Trace
    trace: Trace
    unexplained: float
    token: int
    divergence: float
    without: float

    @property
    def kept(self) -> float:
        """1 − divergence / without: 1 if the answer is the same, 0 if it is as without x."""
        return 1 - self.divergence / self.without if self.without else float("nan")


@torch.no_grad()
def sae_error(
    network: Network,
    text: str,
    sae: Sae,
    *,
    tokens: Iterable[SupportsIndex] | None = None,
    token: int | None = None,
) -> Replaced:
    """How the answer changes when the reconstruction x̂ takes the place of x, at all tokens.

    Args:
        network: any with a word head.
        text: what it reads.
        sae: a dictionary of the network's activations at a place, from `read_sae`.
        tokens: at which x is replaced; None takes all.
        token: where the answer is judged; None takes the mask, or a causal network's last token.

    Raises:
        SaeError: a ValueError, if the dictionary does not fit.
        ValueError: if there is no such token.
        NotForThisNetwork: without a word head.

    Warns:
        UserWarning: if the dictionary was trained on texts that begin with a token of their own,
            and this one does not.

    Examples:
        >>> result = ffnviz.sae_error(ffnviz.load("relu"), "She opened the [MASK].", sae)
        >>> result.unexplained, round(result.kept, 3)
        (0.0, 1.0)
    """
    require(network, ERROR_NEEDS)
    check_fit(network, sae)
    plain = network.trace(text)
    warn_without_start(network, plain, sae)
    return replaced(network, plain, sae, judged_at(network, plain, token), tokens)


@torch.no_grad()
def replaced(
    network: Network, plain: Trace, sae: Sae, place: int, tokens: Which = None
) -> Replaced:
    """The same, given the pass over all tokens of the text, judged at the token `place`."""
    features, tokens = features_of(network, plain, sae), kept_numbers("tokens", tokens)
    put = features.reconstruction
    if tokens is not None:
        put = put[places_of("token", tokens, len(put))]
    trace = network.trace(plain.text, [Edit(sae.block, value=put, tokens=tokens, at=sae.at)])
    none = network.run(plain.ids, [Edit(sae.block, scale=0.0, tokens=tokens, at=sae.at)])
    logits = plain.logits_at(place)
    apart, without = (divergence(logits, each.logits_at(place)) for each in (trace, none))
    return Replaced(plain, trace, features.unexplained, place, apart, without)
