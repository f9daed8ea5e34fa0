"""Reading a sparse autoencoder as sae_lens saves it: cfg.json and sae_weights.safetensors.

Both forms of cfg.json are read: of sae_lens 6, with `metadata`, and the flat one before it.
"""

import json
import re
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ffnviz.models.sae import Sae, SaeError
from ffnviz.models.text_encoding import lines_of

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
NEEDED = {
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
    folder = Path(folder)
    settings = _settings(folder / CONFIG)
    block, at = _place(str(settings.get("hook_name") or settings.get("hook_point") or ""), folder)
    architecture = _architecture(settings, folder)
    if settings.get("hook_name_out") or isinstance(settings.get("hook_head_index"), int):
        raise SaeError(f"{folder} is a transcoder, or of one head; only autoencoders are known.")
    tensors = _tensors(folder / WEIGHTS, NEEDED[architecture], device)
    scaled = settings.get("normalize_activations")
    # What "expected_average_only_in" scales by is in no folder; sae_lens, too, then scales nothing.
    scaled = scaled if scaled in ("layer_norm", "constant_norm_rescale") else "none"
    kwargs = settings.get("model_from_pretrained_kwargs")
    if centred is None:
        centred = isinstance(kwargs, dict) and bool(kwargs.get("center_writing_weights"))
    _, slash, source = str(settings.get("neuronpedia_id") or "").partition("/")
    gated = architecture == "gated"
    return Sae(
        folder.resolve().name, block, at, architecture,
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
    )  # fmt: skip


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
        raise SaeError(f"{path} is no configuration.")
    about = settings.get("metadata")
    return settings | about if isinstance(about, dict) else settings


def _place(hook: str, folder: Path) -> tuple[int, str]:
    """The block and the place in it, from TransformerLens's name of a hook."""
    match = re.fullmatch(r"blocks\.([0-9]{1,4})\.([a-z_.]+)", hook)
    if match is None or match[2] not in HOOKS:
        known = ", ".join(f"blocks.N.{name}" for name in HOOKS)
        raise SaeError(f"{folder} is of “{hook[:80]}”; known are {known}.")
    return int(match[1]), HOOKS[match[2]]


def _architecture(settings: dict[str, Any], folder: Path) -> str:
    """As cfg.json has it; before sae_lens 6, a top-k was a kind of activation function."""
    phi = settings.get("activation_fn_str") or settings.get("activation_fn")
    architecture = "topk" if phi == "topk" else str(settings.get("architecture") or "standard")
    if architecture not in NEEDED:
        raise SaeError(f"{folder} is “{architecture[:80]}”; known are {', '.join(NEEDED)}.")
    if phi not in (None, "relu", "topk"):
        raise SaeError(f"{folder} has the activation function “{str(phi)[:80]}”; known is relu.")
    return architecture


def _k(settings: dict[str, Any], folder: Path) -> int:
    kwargs = settings.get("activation_fn_kwargs")
    k = settings.get("k", kwargs.get("k") if isinstance(kwargs, dict) else None)
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise SaeError(f"{folder} is “topk”, but its {CONFIG} tells no k.")
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
            raise SaeError(f"{path}: {name} has entries that are no finite numbers.")
    return tensors
