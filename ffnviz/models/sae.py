"""A sparse autoencoder: a dictionary of features whose sums a network's activations are.

x ≈ x̂ = f W_dec + b_dec, with f = φ((x − b_dec) W_enc + b_enc) ≥ 0, few of them above zero (Bricken
et al. 2023, "Towards Monosemanticity"; Cunningham et al. 2023, arXiv:2309.08600).

Both forms of cfg.json are read: of sae_lens 6, with `metadata`, and the flat one before it.
"""

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ffnviz.models.arguments import at_most, path_of, plain, rows_like
from ffnviz.models.card import Sizes
from ffnviz.models.edit import PLACES, HeadShape
from ffnviz.models.text_encoding import lines_of

NEEDED = {"standard": (), "jumprelu": ("threshold",), "topk": ("k",), "gated": ("gain", "b_size")}
ARRAYS = ("w_enc", "w_dec", "b_dec", "b_enc", "threshold", "gain", "b_size")
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
        gain: of a "gated", what a gate's product is multiplied by for its size, (d_sae,).
        b_size: of a "gated", what is added to that, (d_sae,).
        b_dec_first: whether b_dec is subtracted before encoding.
        scaled: how x is normed first, "none", "layer_norm" or "constant_norm_rescale".
        by_norm: of a "topk", whether features are ranked by what they write.
        centred: whether the mean over x's components is set aside, as TransformerLens's processed
            networks have it taken out of all that is written.
        prepend_bos: whether the texts it was trained on began with a special token.
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
            raise SaeError(f"at = {self.at!r} must be one of {', '.join(PLACES)}.")
        if self.architecture not in NEEDED:
            known = ", ".join(NEEDED)
            raise SaeError(f"architecture = {self.architecture!r} must be one of {known}.")
        for name in NEEDED[self.architecture]:
            if getattr(self, name) is None:
                raise SaeError(
                    f"{self.name} is a {self.architecture} autoencoder without its {name}."
                )
        block = plain(self.block)
        if type(block) is not int or block < 0:
            raise SaeError(
                f"{self.name}: block = {self.block!r}: give one whole number, from 0. "
                "A dictionary does not know how many blocks there are, so −1 is not the last."
            )
        object.__setattr__(self, "block", block)
        for name in ARRAYS:
            given = getattr(self, name)
            if given is not None and not (isinstance(given, Tensor) and given.is_floating_point()):
                raise SaeError(f"{self.name}: {name} must be a tensor of floating-point numbers.")
        if self.w_enc.ndim != 2:
            raise SaeError(
                f"{self.name}: w_enc is {tuple(self.w_enc.shape)} instead of (d_in, d_sae)."
            )
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
        """The features' activations for rows of x, (…, d_in) -> (…, d_sae).

        Raises:
            TypeError: if x is not a tensor of floating-point numbers.
            ValueError: if it has another width.
        """
        y = self._normed(x)[0]
        y = y - self.b_dec if self.b_dec_first else y
        if self.gain is not None and self.b_size is not None:
            along = y @ self.w_enc
            return (along * self.gain + self.b_size).relu() * (along + self.b_enc > 0)
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
        """x̂, (…, d_in): the reconstruction of x from its features, in the units of x.

        Raises:
            TypeError: if one is not a tensor of floating-point numbers.
            ValueError: if one has another width, or they have not as many rows.
        """
        _, scale, shift = self._normed(x)
        features = rows_like(features, self.w_dec.mT, "features")
        if features.shape[:-1] != x.shape[:-1]:
            raise ValueError(
                f"features has the shape {tuple(features.shape)} and x {tuple(x.shape)}: give as "
                "many rows of each."
            )
        sized = features / self.norms if self.by_norm else features
        return (sized @ self.w_dec + self.b_dec) * scale + shift

    def _normed(self, x: Tensor) -> tuple[Tensor, Tensor | float, Tensor | float]:
        """The normed x, and the scale and the shift that undo the norm in a reconstruction."""
        x = rows_like(x, self.w_enc.mT, "x")
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


CONFIG, WEIGHTS = "cfg.json", "sae_weights.safetensors"
EXPECTED = f"a folder of sae_lens has {CONFIG} and {WEIGHTS}."
HOOKS = {
    "mlp.hook_post": "hidden",
    "hook_mlp_out": "ffn",
    "hook_attn_out": "attention",
    "attn.hook_z": "heads",
    "hook_resid_pre": "input",
    "hook_resid_mid": "middle",
    "hook_resid_post": "output",
}
LONGEST_CONFIG = 2**20
TENSORS = {
    "standard": {"b_enc"},
    "jumprelu": {"b_enc", "threshold"},
    "topk": {"b_enc"},
    "gated": {"b_gate", "b_mag", "r_mag"},
}  # besides W_enc, W_dec and b_dec


def read_sae(
    folder: Path | str, device: str | torch.device = "cpu", *, centred: bool | None = None
) -> Sae:
    """A sparse autoencoder from a folder of sae_lens, by its safetensors alone.

    Args:
        folder: with cfg.json and sae_weights.safetensors: W_enc (d_in, d_sae), W_dec (d_sae, d_in),
            b_enc (d_sae,), b_dec (d_in,), and threshold (d_sae,) of a JumpReLU. Of the FFN's
            hidden neurons or output, the attention's output, or the stream.
        device: where it computes, in float32.
        centred: whether it was trained on a network whose written vectors have no mean, as
            TransformerLens's `center_writing_weights` makes it; None takes what cfg.json says.

    Raises:
        SaeError: a ValueError, in a sentence: what is missing, does not fit or is not known here.

    Examples:
        >>> from safetensors.torch import save_file
        >>> weights = {"W_enc": torch.rand(512, 64), "W_dec": torch.rand(64, 512)}
        >>> weights |= {"b_enc": torch.zeros(64), "b_dec": torch.zeros(512)}
        >>> Path("mine").mkdir()
        >>> save_file(weights, "mine/sae_weights.safetensors")
        >>> config = '{"architecture": "standard", "hook_name": "blocks.1.hook_mlp_out"}'
        >>> n_written = Path("mine/cfg.json").write_text(config)
        >>> ffnviz.read_sae("mine").d_sae
        64
    """
    folder = path_of(folder)
    settings = _settings(folder / CONFIG)
    block, at = _place(str(settings.get("hook_name") or settings.get("hook_point") or ""), folder)
    architecture = _architecture(settings, folder)
    if settings.get("hook_name_out") or isinstance(settings.get("hook_head_index"), int):
        raise SaeError(f"{folder} is a transcoder, or reads a single head; neither can be read.")
    tensors = _tensors(folder / WEIGHTS, TENSORS[architecture], device)
    scaled = settings.get("normalize_activations")
    # What "expected_average_only_in" scales by is in no folder; sae_lens, too, then scales nothing.
    scaled = scaled if scaled in ("layer_norm", "constant_norm_rescale") else "none"
    kwargs = settings.get("model_from_pretrained_kwargs")
    if centred is None:
        centred = isinstance(kwargs, dict) and bool(kwargs.get("center_writing_weights"))
    _, slash, source = str(settings.get("neuronpedia_id") or "").partition("/")
    gated = architecture == "gated"
    return Sae(
        folder.resolve().name,
        block,
        at,
        architecture,
        w_enc=tensors["W_enc"],
        w_dec=tensors["W_dec"],
        b_dec=tensors["b_dec"],
        b_enc=tensors["b_gate" if gated else "b_enc"],
        threshold=tensors["threshold"] if architecture == "jumprelu" else None,
        k=_k(settings, folder) if architecture == "topk" else None,
        gain=tensors["r_mag"].exp() if gated else None,
        b_size=tensors["b_mag"] if gated else None,
        b_dec_first=bool(settings.get("apply_b_dec_to_input", True)),
        scaled=scaled,
        by_norm=architecture == "topk" and bool(settings.get("rescale_acts_by_decoder_norm")),
        centred=centred,
        prepend_bos=bool(settings.get("prepend_bos")),
        trained_on=str(settings.get("model_name") or ""),
        source=source if slash else "",
    )


def _settings(path: Path) -> dict[str, Any]:
    """The configuration, with what is in `metadata` on the same level."""
    try:
        with path.open("rb") as file, lines_of(file) as text:
            settings = json.loads(text.read(LONGEST_CONFIG))
    except OSError as error:
        raise SaeError(f"{path} cannot be read ({error.strerror}): {EXPECTED}") from error
    except (ValueError, RecursionError) as error:
        raise SaeError(f"{path} is not JSON.") from error
    if not isinstance(settings, dict):
        raise SaeError(f"{path} is not a config.")
    about = settings.get("metadata")
    return settings | about if isinstance(about, dict) else settings


def _place(hook: str, folder: Path) -> tuple[int, str]:
    """The block and the place in it, from TransformerLens's name of a hook."""
    match = re.fullmatch(r"blocks\.([0-9]{1,4})\.([a-z_.]+)", hook)
    if match is None or match[2] not in HOOKS:
        known = ", ".join(f"blocks.N.{name}" for name in HOOKS)
        raise SaeError(f"{folder} is of “{hook[:80]}”; only {known} can be read.")
    return int(match[1]), HOOKS[match[2]]


def _architecture(settings: dict[str, Any], folder: Path) -> str:
    """As cfg.json has it; before sae_lens 6, a top-k was a kind of activation function."""
    phi = settings.get("activation_fn_str") or settings.get("activation_fn")
    architecture = "topk" if phi == "topk" else str(settings.get("architecture") or "standard")
    if architecture not in TENSORS:
        raise SaeError(f"{folder} is “{architecture[:80]}”; only {', '.join(TENSORS)} can be read.")
    if phi not in (None, "relu", "topk"):
        raise SaeError(f"{folder} has φ = “{str(phi)[:80]}”; only relu can be read.")
    return architecture


def _k(settings: dict[str, Any], folder: Path) -> int:
    kwargs = settings.get("activation_fn_kwargs")
    k = settings.get("k", kwargs.get("k") if isinstance(kwargs, dict) else None)
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise SaeError(f"{folder} is “topk”, but its {CONFIG} does not give k.")
    return k


def _tensors(path: Path, needed: set[str], device: str | torch.device) -> dict[str, Tensor]:
    """The weights in float32, with shapes that fit each other."""
    wanted = {"W_enc", "W_dec", "b_dec", *needed}
    try:
        with safe_open(path, framework="pt", device=str(device)) as file:
            names = set(file.keys())
            if missing := sorted(wanted - names):
                raise SaeError(f"{path} has no {', '.join(missing)}.")
            tensors = {name: file.get_tensor(name).float() for name in sorted(wanted)}
            if "scaling_factor" in names and bool((file.get_tensor("scaling_factor") != 1).any()):
                raise SaeError(f"{path} was fine-tuned with a scaling_factor, which is not known.")
    except (OSError, SafetensorError) as error:
        raise SaeError(f"{path} cannot be read ({error}): {EXPECTED}") from error
    if tensors["W_enc"].ndim != 2:
        raise SaeError(f"{path}: W_enc has the shape {tuple(tensors['W_enc'].shape)}.")
    d_in, d_sae = tensors["W_enc"].shape
    shapes = {"W_enc": (d_in, d_sae), "W_dec": (d_sae, d_in), "b_dec": (d_in,)}
    for name, tensor in tensors.items():
        shape = shapes.get(name, (d_sae,))
        if tuple(tensor.shape) != shape or not tensor.numel():
            raise SaeError(f"{path}: {name} has the shape {tuple(tensor.shape)}, not {shape}.")
        if not bool(tensor.isfinite().all()):
            raise SaeError(f"{path}: {name} has entries that are not finite.")
    return tensors
