"""A network's parts as the equations have them, whatever modules they are made of."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from ffnviz.models.activations import Activation
from ffnviz.models.arguments import place_of, rows_like, rows_of_width
from ffnviz.models.encoder.feed_forward import FeedForwardRecord


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector a vocabulary entry, with the mean and variance that a norm needs of each.

    Attributes:
        vectors: (vocab_size, d_model).

    Examples:
        >>> words = ffnviz.load("relu").input_words
        >>> words.vectors.shape, words.variance.shape
        (torch.Size([8192, 512]), torch.Size([8192]))
    """

    vectors: Float[Tensor, "vocab d_model"]

    @cached_property
    @torch.no_grad()
    def mean(self) -> Tensor:
        """The mean of each vector's components, (vocab_size,)."""
        return self.vectors.mean(dim=-1)

    @cached_property
    @torch.no_grad()
    def variance(self) -> Tensor:
        """The variance of each vector's components, (vocab_size,)."""
        return self.vectors.var(dim=-1, correction=0)


@dataclass(frozen=True, eq=False)
class Norm:
    """gain ⊙ (x − mean(x)) / scale(x) + bias: LayerNorm (Ba et al. 2016).

    Without the mean and the bias it is RMSNorm (Zhang & Sennrich 2019).

    Attributes:
        gain: (d_model,).
        bias: (d_model,), if it has one.
        eps: added to the variance.
        centred: whether the mean is subtracted.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> norm = model.ffn(0).norm
        >>> torch.allclose(norm(trace.blocks[0].middle), trace.blocks[0].ffn.input, atol=1e-5)
        True
    """

    gain: Float[Tensor, "d_model"]
    bias: Float[Tensor, "d_model"] | None
    eps: float
    centred: bool = True

    def __call__(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        """The norm of each row, (…, d_model).

        Raises:
            TypeError: if x is not a tensor of floating-point numbers.
            ValueError: if it is not d_model wide.
        """
        shape = self.gain.shape
        if self.centred:
            x = rows_like(x, self.gain, "x")
            return F.layer_norm(x, shape, self.gain, self.bias, self.eps)
        x = rows_of_width(x, len(self.gain), "x")
        normed = F.rms_norm(x, shape, self.gain, self.eps)
        return normed if self.bias is None else normed + self.bias

    def double(self) -> "Norm":
        """The same in float64 on the CPU."""
        bias = None if self.bias is None else self.bias.cpu().double()
        return Norm(self.gain.cpu().double(), bias, self.eps, self.centred)

    def scale(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows"]:
        """What each row is divided by, (…)."""
        spread = x.var(dim=-1, correction=0) if self.centred else x.square().mean(dim=-1)
        return (spread + self.eps).sqrt()

    def undivided(self, part: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        """gain ⊙ (part − mean(part)): linear, so parts of a row can be taken one by one."""
        centred = part - part.mean(dim=-1, keepdim=True) if self.centred else part
        return centred * self.gain

    def undivided_along(self, direction: Float[Tensor, "d_model"]) -> Float[Tensor, "d_model"]:
        """The vector whose product with a part is undivided(part) · direction, (d_model,)."""
        reads = self.gain * direction
        return reads - reads.mean() if self.centred else reads

    def words_along(
        self, words: WordVectors, direction: Float[Tensor, "d_model"]
    ) -> Float[Tensor, "vocab"]:
        """norm(E_w) · direction for every word, (vocab_size,): one product, no normed copy."""
        reads = self.gain * direction
        along, spread = words.vectors @ reads, words.variance
        if self.centred:
            along = along - words.mean * reads.sum()
        else:
            spread = spread + words.mean.square()
        along = along / (spread + self.eps).sqrt()
        return along if self.bias is None else along + self.bias @ direction


@dataclass(frozen=True, eq=False)
class WordHead:
    """How the last stream becomes logits.

    Attributes:
        norm: the final norm; None if the stream ends normed, as a post-LN encoder's does.
        words: the words' output vectors, if the logits are norm(stream) · E_w + bias and no more;
            None if something else lies between.
        bias: (vocab_size,), if there is one.
        tied: whether the output vectors are the input vectors.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> head = model.head
        >>> logits = head.norm(trace.blocks[-1].output) @ head.words.vectors.mT
        >>> torch.allclose(logits, trace.logits, atol=1e-4), head.tied
        (True, True)
    """

    norm: Norm | None
    words: WordVectors | None
    bias: Float[Tensor, "vocab"] | None
    tied: bool


@dataclass(frozen=True, eq=False)
class AttentionView:
    """What a block's heads write: Σ_h z_h W_O,h + b (Elhage et al. 2021).

    Attributes:
        outputs: each head's rows of W_O, (n_heads, d_head, d_model).
        output_bias: (d_model,), if there is one.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> view, attention = model.heads(0), trace.blocks[0].attention
        >>> written = view.write(attention.z)  # (n_heads, T, d_model)
        >>> torch.allclose(written.sum(0) + view.output_bias, attention.output, atol=1e-5)
        True
    """

    outputs: Float[Tensor, "n_heads d_head d_model"]
    output_bias: Float[Tensor, "d_model"] | None

    def write(
        self, z: Float[Tensor, "*batch n_heads tokens d_head"]
    ) -> Float[Tensor, "*batch n_heads tokens d_model"]:
        """What each head adds to the stream, of what it gathered, z.

        With the bias they sum to the attention's output, unless a norm follows W_O.

        Raises:
            TypeError: if z is not a tensor of floating-point numbers.
            ValueError: if it is not d_head wide.
        """
        return rows_like(z, self.outputs.mT, "z") @ self.outputs


@dataclass(frozen=True, eq=False)
class FfnView:
    """One block's FFN: Σ_n φ(x · key_n + b_n) value_n + b (Geva et al. 2021, eq. 2).

    Gated, each φ is multiplied by x · gated_value_n + c_n (Shazeer 2020, eq. 6).

    Attributes:
        keys: what activates each neuron, (d_ff, d_model): W1's columns.
        key_bias: (d_ff,), if there is one.
        values: what each neuron writes, (d_ff, d_model): W2's rows.
        output_bias: (d_model,), if there is one.
        gated_value: whose product with x multiplies φ's result, (d_ff, d_model); None if not gated.
        gated_value_bias: (d_ff,), if there is one.
        phi: φ.
        norm: the norm before it; None if it reads the stream itself.
        word_norm: what a word's vector, alone in the stream, passes through before this FFN.
        stages: computes all stages for its input, (…, T, d_model).
        write_norm: the norm of its output before the residual is added, if there is one.
        product: x Wᵀ + b of x, W and b, as the pass computes it.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> view, record = model.ffn(0), trace.blocks[0].ffn
        >>> view.keys.shape, view.values.shape
        (torch.Size([2048, 512]), torch.Size([2048, 512]))
        >>> torch.allclose(view.write(record.hidden), record.output, atol=1e-5)
        True
    """

    keys: Float[Tensor, "d_ff d_model"]
    key_bias: Float[Tensor, "d_ff"] | None
    values: Float[Tensor, "d_ff d_model"]
    output_bias: Float[Tensor, "d_model"] | None
    gated_value: Float[Tensor, "d_ff d_model"] | None
    gated_value_bias: Float[Tensor, "d_ff"] | None
    phi: Activation
    norm: Norm | None
    word_norm: Norm | None
    stages: Callable[[Tensor], FeedForwardRecord]
    write_norm: Norm | None = None
    product: Callable[[Tensor, Tensor, Tensor | None], Tensor] = F.linear

    def reads(self, middle: Tensor) -> Tensor:
        """The FFN's input for the stream before it, (…, d_model).

        Raises:
            TypeError: if that is not a tensor of floating-point numbers.
            ValueError: if it has another width.
        """
        middle = rows_like(middle, self.keys, "middle")
        return middle if self.norm is None else self.norm(middle)

    def write(self, hidden: Float[Tensor, "*rows d_ff"]) -> Float[Tensor, "*rows d_model"]:
        """hidden W2 + b2, (…, d_ff) -> (…, d_model).

        Raises:
            TypeError: if hidden is not a tensor of floating-point numbers.
            ValueError: if it is not d_ff wide.
        """
        weights = self.values.mT
        return self.product(rows_like(hidden, weights, "hidden"), weights, self.output_bias)

    def neuron(self, x: Float[Tensor, "*rows d_model"], number: int) -> Float[Tensor, "*rows"]:
        """One neuron's hidden value for rows of the FFN's input, (…, d_model) -> (…).

        Raises:
            TypeError: if x is not a tensor of floating-point numbers.
            ValueError: if there is no such neuron, or x is not d_model wide.
        """
        number = place_of("neuron", number, len(self.keys), from_end=False)
        x = rows_like(x, self.keys, "x")
        hidden = self.phi.function(_project(x, self.keys, self.key_bias, number))
        if self.gated_value is None:
            return hidden
        return hidden * _project(x, self.gated_value, self.gated_value_bias, number)


def _project(x: Tensor, vectors: Tensor, bias: Tensor | None, number: int) -> Tensor:
    along = x @ vectors[number]
    return along if bias is None else along + bias[number]
