"""A sparse autoencoder: a dictionary of features whose sums a network's activations are.

x ≈ x̂ = f W_dec + b_dec, with f = φ((x − b_dec) W_enc + b_enc) ≥ 0, few of them above zero (Bricken
et al. 2023, "Towards Monosemanticity"; Cunningham et al. 2023, arXiv:2309.08600).
"""

from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from ffnviz.models.card import Sizes
from ffnviz.models.edit import PLACES, HeadShape
from ffnviz.models.positional import at_most

NEEDED = {"standard": (), "jumprelu": ("threshold",), "topk": ("k",), "gated": ("gain", "b_size")}
LAYER_NORM_EPS = 1e-5  # sae_lens's


class SaeError(ValueError):
    """There is no known sparse autoencoder in a folder, or it does not fit: the message says why.

    Examples:
        >>> ffnviz.read_sae("not-there")
        Traceback (most recent call last):
            ...
        ffnviz.models.sae.SaeError: ...
    """


@at_most(4)
@dataclass(frozen=True, eq=False)
class Sae:
    """A sparse autoencoder of a network's activations at one place.

    Attributes:
        name: its folder's.
        block: whose activations it decomposes, from 0.
        at: the place in that block, as Edit has them.
        architecture: "standard" (ReLU), "jumprelu" (Rajamanoharan et al. 2024b), "topk" (Gao et al.
            2024) or "gated" (Rajamanoharan et al. 2024a).
        w_enc: (d_in, d_sae).
        w_dec: a row a feature, (d_sae, d_in).
        b_dec: (d_in,).
        b_enc: (d_sae,); of a gated one, what its gates are compared with.
        threshold: of a "jumprelu", below or at which a feature is zero, (d_sae,).
        k: of a "topk", how many features are kept at each token.
        gain: of a "gated", what a gate's product is multiplied with for its size, (d_sae,).
        b_size: of a "gated", what is added to that, (d_sae,).
        b_dec_first: whether b_dec is subtracted before encoding.
        scaled: how x is normed first, "none", "layer_norm" or "constant_norm_rescale".
        by_norm: of a "topk", whether features are ranked by what they write.
        centred: whether the mean over x's components is set aside, as TransformerLens's processed
            networks have it taken out of all that is written.
        prepend_bos: whether the texts it was trained on began with a token of their own.
        trained_on: the network's name in its configuration.
        source: its name at Neuronpedia, such as "6-res-jb"; else "".

    Raises:
        SaeError: for another place or architecture, or arrays that do not fit each other.

    Examples:
        >>> eye, zero = torch.eye(2048), torch.zeros(2048)  # a feature a neuron
        >>> weights = {"w_enc": eye, "w_dec": eye, "b_dec": zero, "b_enc": zero}
        >>> sae = ffnviz.Sae("neurons", 1, "hidden", "standard", **weights)
        >>> sae.d_in, sae.d_sae, sae.where
        (2048, 2048, 'the hidden neurons, block 2')
    """

    name: str
    block: int
    at: str
    architecture: str
    w_enc: Float[Tensor, "d_in d_sae"] = field(repr=False)
    w_dec: Float[Tensor, "d_sae d_in"] = field(repr=False)
    b_dec: Float[Tensor, "d_in"] = field(repr=False)
    b_enc: Float[Tensor, "d_sae"] = field(repr=False)
    threshold: Float[Tensor, "d_sae"] | None = field(default=None, repr=False)
    k: int | None = None
    gain: Float[Tensor, "d_sae"] | None = field(default=None, repr=False)
    b_size: Float[Tensor, "d_sae"] | None = field(default=None, repr=False)
    b_dec_first: bool = True
    scaled: str = "none"
    by_norm: bool = False
    centred: bool = False
    prepend_bos: bool = False
    trained_on: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if self.at not in PLACES:
            raise SaeError(f"at = {self.at!r} is not allowed: one of {', '.join(PLACES)}.")
        if self.architecture not in NEEDED:
            known = ", ".join(NEEDED)
            raise SaeError(f"architecture = {self.architecture!r} is not allowed: one of {known}.")
        for name in NEEDED[self.architecture]:
            if getattr(self, name) is None:
                raise SaeError(f"{self.name} is a {self.architecture} one, and lacks its {name}.")
        d_in, d_sae = self.w_enc.shape
        shapes = {"w_dec": (d_sae, d_in), "b_dec": (d_in,)} | dict.fromkeys(
            ("b_enc", "threshold", "gain", "b_size"), (d_sae,)
        )
        for name, shape in shapes.items():
            given = getattr(self, name)
            if given is not None and given.shape != shape:
                raise SaeError(f"{self.name}: {name} is {tuple(given.shape)} instead of {shape}.")

    @property
    def d_sae(self) -> int:
        """How many features it has."""
        return len(self.w_dec)

    @property
    def d_in(self) -> int:
        """Width of the activations that it decomposes."""
        return len(self.w_enc)

    @property
    def where(self) -> str:
        """The place in words, with the block from 1."""
        return f"{PLACES[self.at].partition(',')[0]}, block {self.block + 1}"

    @cached_property
    def norms(self) -> Float[Tensor, "d_sae"]:
        """‖W_dec[f]‖ of each feature."""
        norms: Tensor = self.w_dec.norm(dim=-1)
        return norms

    @torch.no_grad()
    def encode(self, x: Float[Tensor, "*rows d_in"]) -> Float[Tensor, "*rows d_sae"]:
        """The features' activations for rows of x, (…, d_in) -> (…, d_sae)."""
        y = self._normed(x)[0]
        y = y - self.b_dec if self.b_dec_first else y
        if self.gain is not None and self.b_size is not None:
            along = y @ self.w_enc
            size = (along * self.gain + self.b_size).relu()
            return size * (along + self.b_enc > 0)
        pre = torch.addmm(self.b_enc, y.reshape(-1, self.d_in), self.w_enc)
        pre = pre.reshape(*y.shape[:-1], self.d_sae)
        if self.threshold is not None:
            return pre.relu() * (pre > self.threshold.relu())
        if self.k is None:
            return pre.relu()
        ranked = pre * self.norms if self.by_norm else pre
        best = ranked.topk(min(self.k, self.d_sae), dim=-1)
        return torch.zeros_like(pre).scatter(-1, best.indices, best.values.relu())

    @torch.no_grad()
    def decode(
        self, features: Float[Tensor, "*rows d_sae"], x: Float[Tensor, "*rows d_in"]
    ) -> Float[Tensor, "*rows d_in"]:
        """x̂, (…, d_in): the reconstruction of x from its features, in the units of x."""
        _, scale, shift = self._normed(x)
        sized = features / self.norms if self.by_norm else features
        return (sized @ self.w_dec + self.b_dec) * scale + shift

    def _normed(self, x: Tensor) -> tuple[Tensor, Tensor | float, Tensor | float]:
        """The normed x, and the scale and the shift that undo the norm in a reconstruction."""
        x = x.to(self.w_enc)
        offset: Tensor | float = x.mean(dim=-1, keepdim=True) if self.centred else 0.0
        x = x - offset
        if self.scaled == "layer_norm":
            mean = x.mean(dim=-1, keepdim=True)
            spread = (x - mean).std(dim=-1, keepdim=True)
            return (x - mean) / (spread + LAYER_NORM_EPS), spread, mean + offset
        if self.scaled == "constant_norm_rescale":
            factor = self.d_in**0.5 / x.norm(dim=-1, keepdim=True)
            return x * factor, 1 / factor, offset
        return x, 1.0, offset

    def check(self, sizes: Sizes, label: str, head_shape: HeadShape) -> None:
        """Check that a network has this place, with this width.

        Args:
            sizes: the network's.
            label: what it is called.
            head_shape: of a block's attention: how many heads, and how wide each is.

        Raises:
            SaeError: naming what does not fit.
        """
        if not 0 <= self.block < sizes.n_blocks:
            raise SaeError(
                f"{self.name} is of block {self.block} (from 0); {label} has {sizes.n_blocks}."
            )
        width = sizes.d_ff if self.at == "hidden" else sizes.d_model
        if self.at == "heads":
            n_heads, d_head = head_shape(self.block)
            width = n_heads * d_head
        if self.d_in != width:
            raise SaeError(
                f"{self.name} takes apart vectors of {self.d_in:,} components; in {label}, "
                f"{PLACES[self.at].partition(',')[0]}: {width:,}."
            )
