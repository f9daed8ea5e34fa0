"""A model as a folder: config.json, tokenizer.json, token_counts.json, weights.safetensors."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from ffnviz.model.config import ConfigError, EncoderConfig
from ffnviz.model.draws import no_draws
from ffnviz.model.encoder import Encoder
from ffnviz.model.tokenizer import Tokenizer

CONFIG, TOKENIZER, COUNTS = "config.json", "tokenizer.json", "token_counts.json"
WEIGHTS = "weights.safetensors"
NUMBERS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)  # we write float16


class ModelFolderError(ValueError):
    """A folder that is no model: says which file and why."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


def write_folder(folder: Path, encoder: Encoder, tokenizer: Tokenizer, counts: list[int]) -> None:
    """Write a model, its weights as float16.

    Args:
        folder: made if it is not there.
        encoder: config and weights.
        tokenizer: of the same vocabulary size.
        counts: how often each entry of the vocabulary stood in the training text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / CONFIG, encoder.config.to_dict())
    tokenizer.save(folder / TOKENIZER)
    _write_json(folder / COUNTS, counts, indent=None)
    weights = {name: t.half().contiguous().cpu() for name, t in encoder.state_dict().items()}
    save_file(weights, folder / WEIGHTS)


def read_folder(folder: Path) -> tuple[Encoder, Tokenizer, Tensor]:
    """The encoder (float32, ready for inference), the tokenizer and the token counts.

    Raises:
        ModelFolderError: if a file is missing, damaged, or does not fit the others.
    """
    if not folder.is_dir():
        raise ModelFolderError(folder, "there is no such folder")
    config = _read_config(folder / CONFIG)
    tokenizer = _read_tokenizer(folder / TOKENIZER, config)
    counts = _read_counts(folder / COUNTS, config)
    return _read_encoder(folder / WEIGHTS, config), tokenizer, counts


def _read_config(path: Path) -> EncoderConfig:
    values = _read_json(path)
    if not isinstance(values, dict):
        raise ModelFolderError(path, "it must hold one JSON object")
    try:
        return EncoderConfig.from_dict(values)
    except ConfigError as error:
        raise ModelFolderError(path, str(error)) from error


def _read_tokenizer(path: Path, config: EncoderConfig) -> Tokenizer:
    if not path.is_file():
        raise ModelFolderError(path, "the file is missing")
    try:
        tokenizer = Tokenizer.from_file(path)
    except ValueError as error:
        raise ModelFolderError(path, str(error)) from error
    if tokenizer.vocab_size != config.vocab_size:
        raise ModelFolderError(
            path,
            f"it has {tokenizer.vocab_size:,} entries, but {CONFIG} says "
            f"vocab_size = {config.vocab_size:,}",
        )
    return tokenizer


def _read_counts(path: Path, config: EncoderConfig) -> Tensor:
    values = _read_json(path)
    if (
        not isinstance(values, list)
        or len(values) != config.vocab_size
        or not all(type(value) is int and 0 <= value < 2**63 for value in values)
    ):
        raise ModelFolderError(path, f"it must be a list of {config.vocab_size:,} counts")
    return torch.tensor(values)


def _read_encoder(path: Path, config: EncoderConfig) -> Encoder:
    if not path.is_file():
        raise ModelFolderError(path, "the file is missing")
    try:
        weights = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFolderError(path, f"it is damaged ({error})") from error
    n_blocks = len({name.split(".")[1] for name in weights if name.startswith("blocks.")})
    if n_blocks != config.n_blocks:
        raise ModelFolderError(
            path, f"it has {n_blocks} blocks, but {CONFIG} asks for {config.n_blocks}"
        )
    with torch.device("meta"), no_draws():  # initial values would be replaced at once
        encoder = Encoder(config)
    expected = {name: tuple(t.shape) for name, t in encoder.state_dict().items()}
    for name in sorted(expected.keys() | weights.keys()):
        found = tuple(weights[name].shape) if name in weights else "nothing"
        if found != expected.get(name, "nothing"):
            raise ModelFolderError(
                path, f"{name} is {found}, but {CONFIG} asks for {expected.get(name, 'nothing')}"
            )
        if weights[name].dtype not in NUMBERS:
            raise ModelFolderError(path, f"{name} holds {weights[name].dtype}, not float16")
        weights[name] = weights[name].float()
        if not torch.isfinite(weights[name]).all():
            raise ModelFolderError(path, f"{name} has values that are not finite")
    encoder.load_state_dict(weights, assign=True)
    return encoder.eval().requires_grad_(False)


def _read_json(path: Path) -> Any:
    if not path.is_file():
        raise ModelFolderError(path, "the file is missing")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # Unicode and JSON errors are ValueErrors
        raise ModelFolderError(path, f"it is not JSON ({error})") from error


def _write_json(path: Path, values: Any, indent: int | None = 2) -> None:
    path.write_text(json.dumps(values, indent=indent) + "\n", encoding="utf-8")
