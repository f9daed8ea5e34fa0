"""One number of the network as the sum of products that it is."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, word_head
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS: tuple[Capability, ...] = ()
LOGIT_NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS)


@dataclass(frozen=True)
class DotProduct:
    """left · right + bias = total, with its largest terms."""

    # left, right: the factors, (n,)
    left: NDArray[np.float32]
    right: NDArray[np.float32]
    bias: float
    total: float  # as the network computed it
    largest: NDArray[np.int64]  # indices of the largest terms, most positive to most negative, (k,)

    @property
    def terms(self) -> NDArray[np.float64]:
        """All products, (n,), in float64."""
        return self.left.astype(np.float64) * self.right

    @property
    def rest(self) -> float:
        """The sum of all but the largest terms."""
        return float(self.terms.sum() - self.terms[self.largest].sum())

    @property
    def residue(self) -> float:
        """The difference between the sum and the network's number, due to rounding."""
        return float(self.terms.sum()) + self.bias - self.total


def _dot_product(left: Tensor, right: Tensor, bias: float, total: float, k: int) -> DotProduct:
    a, b = left.float().cpu().numpy(), right.float().cpu().numpy()
    terms = a.astype(np.float64) * b
    order = np.argsort(-terms, kind="stable")
    above, below = order[:k], order[-k:]
    largest = np.concatenate([above[terms[above] > 0], below[terms[below] < 0]])
    return DotProduct(a, b, bias, total, largest)


@torch.no_grad()
def pre_activation(
    model: Network, trace: ForwardPass, block: int, token: int, neuron: int, k: int = 6
) -> DotProduct:
    """x · key + b for one neuron at one token: d_model terms."""
    record, ffn = trace.blocks[block].ffn, model.ffn(block)
    return _dot_product(
        record.input[token], ffn.keys[neuron], _entry(ffn.key_bias, neuron),
        float(record.pre_activation[token, neuron]), k,
    )  # fmt: skip


@torch.no_grad()
def output_component(
    model: Network, trace: ForwardPass, block: int, token: int, component: int, k: int = 6
) -> DotProduct:
    """hidden · W2[:, component] + b2 for one component of the FFN's output: d_ff terms."""
    record, ffn = trace.blocks[block].ffn, model.ffn(block)
    return _dot_product(
        record.hidden[token], ffn.values[:, component], _entry(ffn.output_bias, component),
        float(record.output[token, component]), k,
    )  # fmt: skip


@torch.no_grad()
def logit(model: Network, trace: ForwardPass, token: int, word: int, k: int = 6) -> DotProduct:
    """final · E_w (+ the word's bias, if there is one) at one token: d_model terms.

    Raises:
        NotForThisNetwork: without a plain word head.
    """
    head, words = word_head(model)
    total = float(trace.logits_at(token)[word])
    stream = trace.blocks[-1].output[token]
    final = stream if head.norm is None else head.norm(stream)
    return _dot_product(final, words.vectors[word], _entry(head.bias, word), total, k)


def _entry(bias: Tensor | None, place: int) -> float:
    return 0.0 if bias is None else float(bias[place])
