"""A model as a folder: config.json, tokenizer.json, token_counts.json, weights.safetensors.

A trained model has training.json and MODEL_CARD.md too. config.json ends with the SHA-256 of each
other file but the card, so that files of two models are never taken for one. The processes of a
server share the float32 weights by a mapped file.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from ffnviz.models.encoder.atomic import (
    check_writable,
    is_draft,
    new_folder,
    real,
    set_aside,
    write_file,
)
from ffnviz.models.encoder.config import ConfigError, EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.text_encoding import decoded
from ffnviz.models.torch_shortcuts import no_draws

FOLDER = "FFNVIZ_SHARED_WEIGHTS"  # names a folder of this server's own, removed when it ends
ALIGNED = 16  # numbers: each tensor begins where PyTorch would have it begin, at 64 bytes


def mapped(weights: Mapping[str, Tensor], file: Path) -> dict[str, Tensor]:
    """The same float32 tensors from a mapped file for them alone, written if it is not there."""
    tensors = [(name, weights[name]) for name in sorted(weights)]  # safetensors has no order
    lengths = [tensor.numel() + -tensor.numel() % ALIGNED for _, tensor in tensors]
    if not file.exists():
        whole = torch.zeros(sum(lengths))
        for piece, (_, tensor) in zip(torch.split(whole, lengths), tensors, strict=True):
            piece[: tensor.numel()] = tensor.flatten()
        _write(whole, file)
    # A private mapping, so that a write here could reach no other process; none is made.
    whole = torch.from_file(str(file), shared=False, size=sum(lengths), dtype=torch.float32)
    pieces = zip(tensors, torch.split(whole, lengths), strict=True)
    return {name: piece[: tensor.numel()].view(tensor.shape) for (name, tensor), piece in pieces}


def _write(values: Tensor, file: Path) -> None:
    """Write under a temporary name; the first process to finish links the file's own name."""
    with tempfile.NamedTemporaryFile(dir=file.parent) as draft:
        values.numpy().tofile(draft)
        draft.flush()
        with suppress(FileExistsError):
            os.link(draft.name, file)


CONFIG, TOKENIZER, COUNTS = "config.json", "tokenizer.json", "token_counts.json"
WEIGHTS, TRAINING, CARD = "weights.safetensors", "training.json", "MODEL_CARD.md"
SUMS = "sha256"  # the field of config.json
NUMBERS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)  # we write float16


class ModelFolderError(ValueError):
    """A folder is not a model, or cannot become one: the message says which file and why.

    Examples:
        >>> try:
        ...     ffnviz.load(Path("not-there"))
        ... except ffnviz.ModelFolderError as error:
        ...     print(error.path)
        not-there
    """

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why

    def __reduce__(self) -> tuple[type[Exception], tuple[Path, str]]:
        return type(self), (self.path, self.why)  # one process tells another


def write_folder(
    folder: Path,
    encoder: Encoder,
    tokenizer: Tokenizer,
    counts: list[int],
    describe: Callable[[Encoder], dict[str, str]] | None = None,
) -> None:
    """Write a model, its weights as float16. An existing model stays until all is written.

    `counts`: how often each entry occurred in the training text. `describe` makes training.json and
    MODEL_CARD.md, by name, of the encoder as it will be read.
    """
    check_place(folder)
    weights = {name: t.half().contiguous().cpu() for name, t in encoder.state_dict().items()}
    files = {
        TOKENIZER: tokenizer.to_json(),
        COUNTS: _json(counts, indent=None),
        WEIGHTS: save(weights),
    }
    if describe is not None:
        written = _encoder(folder / WEIGHTS, files[WEIGHTS], encoder.config)
        files |= {name: text.encode() for name, text in describe(written).items()}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    sums.pop(CARD, None)  # prose, which people may improve
    files[CONFIG] = _json({**encoder.config.to_dict(), SUMS: sums})
    with new_folder(folder) as new:
        for name, content in files.items():
            write_file(new / name, content)


def check_place(folder: Path) -> None:
    """Check that a model can be written here, before there is one."""
    folder = real(folder)
    if folder.is_dir():
        known = {CONFIG, TOKENIZER, COUNTS, WEIGHTS, TRAINING, CARD}
        others = sorted({path.name for path in folder.iterdir() if not is_draft(path)} - known)
        if others:
            raise ModelFolderError(
                folder,
                f"it holds {others[0]!r}, which is not part of a model: "
                "choose a new folder, an empty one, or one that holds a model",
            )
        if os.path.ismount(folder):
            raise ModelFolderError(folder, "a disk is mounted here: choose a folder within it")
    elif folder.exists():
        raise ModelFolderError(folder, "it is a file: choose a folder")
    check_writable(folder)
    check_writable(folder.parent)


def read_folder(folder: Path) -> tuple[Encoder, Tokenizer, Tensor]:
    """The encoder (float32, ready for inference), the tokenizer and the token counts."""
    _check_there(folder)
    config, sums = _read_config(folder / CONFIG)
    tokenizer = _read_tokenizer(folder / TOKENIZER, config, sums)
    counts = _read_counts(folder / COUNTS, config, sums)
    weights = _content(folder / WEIGHTS, sums)
    if TRAINING in sums and (folder / TRAINING).exists():
        _content(folder / TRAINING, sums)
    return _encoder(folder / WEIGHTS, weights, config), tokenizer, counts


def _check_there(folder: Path) -> None:
    try:
        if folder.is_dir():
            return
        old = set_aside(folder)
        left = old.is_dir()
    except OSError as error:
        raise ModelFolderError(folder, f"it cannot be read ({error.strerror})") from error
    if left:
        raise ModelFolderError(
            folder, f"writing it was cut short. What was there before is in {old}: rename that"
        )
    raise ModelFolderError(folder, "there is no such folder")


def _content(path: Path, sums: dict[str, str]) -> bytes:
    """The content of a file, if its SHA-256 is that in the configuration."""
    try:
        if path.is_dir():
            raise ModelFolderError(path, "it is a folder, not a file")
        if not path.is_file():
            raise ModelFolderError(path, "the file is missing")
        content = path.read_bytes()
    except OSError as error:
        raise ModelFolderError(path, f"it cannot be read ({error.strerror})") from error
    if path.name in sums and hashlib.sha256(content).hexdigest() != sums[path.name]:
        raise ModelFolderError(
            path,
            f"it is damaged, or of another model: its SHA-256 is not the one in {CONFIG}. "
            f"If you changed it on purpose, take “{SUMS}” out of {CONFIG}",
        )
    return content


def _read_config(path: Path) -> tuple[EncoderConfig, dict[str, str]]:
    values = _read_json(path, {})
    if not isinstance(values, dict):
        raise ModelFolderError(path, "it must hold one JSON object")
    sums = values.pop(SUMS, {})  # older folders have none
    if not isinstance(sums, dict) or not all(isinstance(value, str) for value in sums.values()):
        raise ModelFolderError(path, f"its “{SUMS}” must name files with their SHA-256")
    try:
        return EncoderConfig.from_dict(values), sums
    except ConfigError as error:
        raise ModelFolderError(path, str(error)) from error


def _read_tokenizer(path: Path, config: EncoderConfig, sums: dict[str, str]) -> Tokenizer:
    content = _content(path, sums)
    try:
        tokenizer = Tokenizer.from_json(content)
    except ValueError as error:
        raise ModelFolderError(path, str(error)) from error
    if tokenizer.vocab_size != config.vocab_size:
        raise ModelFolderError(
            path,
            f"it has {tokenizer.vocab_size:,} entries, but {CONFIG} says "
            f"vocab_size = {config.vocab_size:,}",
        )
    return tokenizer


def _read_counts(path: Path, config: EncoderConfig, sums: dict[str, str]) -> Tensor:
    values = _read_json(path, sums)
    if (
        not isinstance(values, list)
        or len(values) != config.vocab_size
        or not all(type(value) is int and 0 <= value < 2**63 for value in values)
    ):
        raise ModelFolderError(path, f"it must be a list of {config.vocab_size:,} counts")
    return torch.tensor(values)


def _encoder(path: Path, content: bytes, config: EncoderConfig) -> Encoder:
    try:
        weights = load(content)
    except Exception as error:  # the library raises many types
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
        shape = tuple(weights[name].shape) if name in weights else "nothing"
        if shape != expected.get(name, "nothing"):
            raise ModelFolderError(
                path, f"{name} is {shape}, but {CONFIG} asks for {expected.get(name, 'nothing')}"
            )
        if weights[name].dtype not in NUMBERS:
            raise ModelFolderError(path, f"{name} holds {weights[name].dtype}, not float16")
        weights[name] = weights[name].float()
        if not torch.isfinite(weights[name]).all():
            raise ModelFolderError(path, f"{name} has values that are not finite")
    shared = os.environ.get(FOLDER)
    if shared:
        with suppress(OSError):  # each process then holds its own copy
            weights = mapped(weights, Path(shared) / f"{hashlib.sha256(content).hexdigest()}.f32")
    encoder.load_state_dict(weights, assign=True)
    return encoder.eval().requires_grad_(False)


def _read_json(path: Path, sums: dict[str, str]) -> Any:
    content = _content(path, sums)
    try:
        return json.loads(decoded(content))
    except (ValueError, RecursionError) as error:  # Unicode and JSON errors are ValueErrors
        raise ModelFolderError(path, f"it is not JSON ({error})") from error


def _json(values: Any, indent: int | None = 2) -> bytes:
    return (json.dumps(values, indent=indent) + "\n").encode()
