"""The FFN as a memory: a neuron's key, which activates it, and its value, which it writes.

FFN(x) = Σ φ(x · key_n + b_n) value_n + b2, summed over the neurons n (Geva et al. 2021,
arXiv:2012.14913, eq. 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Int64
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.needs import Capability, word_head
from ffnviz.models.network import Network

NEEDS: tuple[Capability, ...] = ()
WRITES_NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS)
OFTEN_ENOUGH = 200  # times a word stood in the training text, to be ranked


@dataclass(frozen=True, eq=False)
class RankedWords(Comparable):
    """Entries of the vocabulary, the highest score first.

    Examples:
        >>> promoted, _ = ffnviz.sae_words(ffnviz.load("relu"), sae, feature=1709, k=3)
        >>> len(promoted.words), promoted.ids.shape, bool(promoted.scores[0] > promoted.scores[2])
        (3, torch.Size([3]), True)
    """

    words: tuple[str, ...]
    ids: Int64[Tensor, "k"]  # their rows in the vocabulary
    scores: Float32[Tensor, "k"]


@dataclass(frozen=True)
class Similar:
    """The neurons of a block that are most similar to one of them, the most similar first."""

    neurons: NDArray[np.int64]  # (k,)
    cosines: NDArray[np.float32]  # between their vectors and that neuron's, (k,)


@torch.no_grad()
def key_matches(model: Network, block: int, neuron: int, k: int = 10) -> RankedWords:
    """The words whose embeddings, alone in the stream, would activate a neuron most.

    The score is the pre-activation: LN(E_w) · key + b, with the LayerNorm before this FFN. Only the
    words of `can_be_ranked` are ranked.
    """
    ffn, words = model.ffn(block), model.input_words
    key, norm = ffn.keys[neuron], ffn.word_norm
    scores = words.vectors @ key if norm is None else norm.words_along(words, key)
    if ffn.key_bias is not None:
        scores = scores + ffn.key_bias[neuron]
    return _ranked(model, scores, k)


@torch.no_grad()
def written_words(
    model: Network, block: int, neuron: int, k: int = 10
) -> tuple[RankedWords, RankedWords]:
    """The words that a neuron's activation of 1 promotes and suppresses most; see `words_of`."""
    return words_of(model, model.ffn(block).values[neuron], k)


def whole_first(words: Sequence[str]) -> list[str]:
    """Whole words first, then signs and pieces of words, each in their order."""
    return sorted(words, key=str.isalpha, reverse=True)


def words_of(model: Network, written: Tensor, k: int) -> tuple[RankedWords, RankedWords]:
    """The words that a vector written into the stream, (d_model,), promotes and suppresses most.

    It is read through the final LayerNorm's centring and gain and the output matrix, without the
    division by the stream's standard deviation.
    """
    head, words = word_head(model)
    if head.norm is not None:
        written = head.norm.undivided(written)
    scores = F.linear(written, words.vectors)  # (vocab_size,)
    promoted, suppressed = _ranked(model, scores, k), _ranked(model, -scores, k)
    return promoted, RankedWords(suppressed.words, suppressed.ids, -suppressed.scores)


@torch.no_grad()
def value_norms(model: Network, block: int, neuron: int) -> tuple[float, float]:
    """‖value‖ of a neuron, and the share of the block's neurons whose values are shorter."""
    norms = row_norms(model.ffn(block).values)
    return float(norms[neuron]), float((norms < norms[neuron]).float().mean())


def row_norms(vectors: Tensor) -> Tensor:
    """The norms of rows, (n, d_model) -> (n,); on a transposed view ten times as fast as .norm."""
    norms: Tensor = vectors.square().sum(dim=-1).sqrt()
    return norms


@torch.no_grad()
def similar(model: Network, block: int, neuron: int, k: int = 8) -> tuple[Similar, Similar]:
    """The neurons with the most similar keys, and those with the most similar values."""
    ffn = model.ffn(block)
    return _nearest(ffn.keys, neuron, k), _nearest(ffn.values, neuron, k)


def _nearest(vectors: Tensor, neuron: int, k: int) -> Similar:
    norms = row_norms(vectors).clamp_min(1e-30)
    # F.cosine_similarity takes several times as long.
    cosines = vectors @ vectors[neuron].contiguous() / (norms * norms[neuron])
    cosines[neuron] = -torch.inf
    best = cosines.topk(min(k, len(cosines) - 1))
    return Similar(best.indices.cpu().numpy(), best.values.cpu().numpy())


def can_be_ranked(model: Network, n_words: int, device: torch.device) -> Tensor:
    """Whether each word is ranked, (n_words,): those that stood OFTEN_ENOUGH in the training text.

    Where this is not known, all but special tokens.
    """
    provenance = model.card.provenance
    if provenance is not None and provenance.token_counts is not None:
        return provenance.token_counts.to(device) >= OFTEN_ENOUGH
    ranked = torch.ones(n_words, dtype=torch.bool, device=device)
    ranked[[id_ for id_ in model.tokenizer.special_ids if id_ < n_words]] = False
    return ranked


def _ranked(model: Network, scores: Tensor, k: int) -> RankedWords:
    ranked = can_be_ranked(model, len(scores), scores.device)
    best = scores.masked_fill(~ranked, -torch.inf).topk(min(k, int(ranked.sum())))
    ids = best.indices.cpu()
    words = tuple(map(model.tokenizer.label, ids.tolist()))
    return RankedWords(words, ids, best.values.float().cpu())


AT_ONCE = 2**25  # scores in memory


@torch.no_grad()
def written_ids(
    network: Network, block: int, neurons: NDArray[np.integer], k: int
) -> NDArray[np.int64]:
    """The k words that each neuron promotes most, their rows in the vocabulary, (n,) -> (n, k)."""
    values = network.ffn(block).values
    chosen = torch.from_numpy(neurons.astype(np.int64)).to(values.device)
    rows = max(1, AT_ONCE // len(word_head(network)[1].vectors))
    best = [promoted_ids(network, values[chunk], k) for chunk in torch.split(chosen, rows)]
    return np.concatenate(best)


@torch.no_grad()
def promoted_ids(network: Network, written: Tensor, k: int) -> NDArray[np.int64]:
    """The words that each vector promotes most, (n, d_model) -> (n, k)."""
    head, words = word_head(network)
    vectors = words.vectors
    rows = can_be_ranked(network, len(vectors), vectors.device).nonzero().flatten()
    if head.norm is not None:
        written = head.norm.undivided(written)
    best = (written @ vectors[rows].mT).topk(min(k, len(rows)), dim=-1).indices
    return rows[best].cpu().numpy()
