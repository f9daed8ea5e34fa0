"""Folders as sae_lens saves them, and its equations written once more, in NumPy and float64."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

Array = NDArray[np.float64]
ARCHITECTURES = ("standard", "jumprelu", "topk", "gated")


def drawn(architecture: str, d_in: int, d_sae: int, seed: int = 5) -> dict[str, Array]:
    """Random weights of an architecture."""
    rng = np.random.default_rng(seed)
    names = {"standard": ["b_enc"], "topk": ["b_enc"], "jumprelu": ["b_enc", "threshold"],
             "gated": ["b_gate", "b_mag", "r_mag"]}[architecture]  # fmt: skip
    weights = {"W_enc": rng.normal(size=(d_in, d_sae)) / d_in**0.5,
               "W_dec": rng.normal(size=(d_sae, d_in)) / d_in**0.5,
               "b_dec": rng.normal(size=d_in)}  # fmt: skip
    return weights | {name: 0.3 * rng.normal(size=d_sae) for name in names}


def saved(
    folder: Path, weights: dict[str, Array], hook: str, *, old: bool = False, **told: Any
) -> Path:
    """A folder with these weights; `old` is cfg.json before sae_lens 6."""
    folder.mkdir(parents=True, exist_ok=True)
    d_in, d_sae = weights["W_enc"].shape
    about = {"model_name": "tiny", "hook_name": hook, "neuronpedia_id": "tiny/1-mlp"}
    if old:
        about["hook_point"] = about.pop("hook_name")
    config = {"d_in": d_in, "d_sae": d_sae, "dtype": "float32", "device": "cpu", **told}
    config |= about if old else {"metadata": about | {"sae_lens_version": "6.5.1"}}
    (folder / "cfg.json").write_text(json.dumps(config))
    # safetensors writes an array as it lies in memory, whatever its strides say.
    arrays = {
        name: np.ascontiguousarray(array, dtype=np.float32) for name, array in weights.items()
    }
    save_file(arrays, folder / "sae_weights.safetensors")
    return folder


def encoded(x: Array, w: dict[str, Array], told: dict[str, Any]) -> tuple[Array, Array]:
    """f and x̂, row by row."""
    features, reconstructions = [], []
    w = {name: array.astype(np.float32).astype(np.float64) for name, array in w.items()}
    norms = np.sqrt((w["W_dec"] ** 2).sum(axis=1))
    for row in x:
        shift, scale = 0.0, 1.0
        if told.get("normalize_activations") == "layer_norm":
            shift, scale = row.mean(), row.std(ddof=1)
            y = (row - shift) / (scale + 1e-5)
        elif told.get("normalize_activations") == "constant_norm_rescale":
            scale = np.sqrt((row**2).sum()) / np.sqrt(len(row))
            y = row / scale
        else:
            y = row
        if told.get("apply_b_dec_to_input", True):
            y = y - w["b_dec"]
        along = y @ w["W_enc"]
        kind = told.get("architecture", "standard")
        if kind == "gated":
            size = np.maximum(along * np.exp(w["r_mag"]) + w["b_mag"], 0)
            f = np.where(along + w["b_gate"] > 0, size, 0)
        else:
            pre = along + w["b_enc"]
            if kind == "jumprelu":
                f = np.where(pre > np.maximum(w["threshold"], 0), np.maximum(pre, 0), 0)
            elif kind == "topk":
                pre = pre * norms if told.get("rescale_acts_by_decoder_norm") else pre
                f = np.zeros_like(pre)
                best = np.argsort(-pre)[: told["k"]]
                f[best] = np.maximum(pre[best], 0)
            else:
                f = np.maximum(pre, 0)
        sized = f / norms if told.get("rescale_acts_by_decoder_norm") else f
        features.append(f)
        reconstructions.append((sized @ w["W_dec"] + w["b_dec"]) * scale + shift)
    return np.array(features), np.array(reconstructions)
