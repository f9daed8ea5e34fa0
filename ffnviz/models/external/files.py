"""Checks of a folder's files before transformers loads them."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from ffnviz.models.external.refusal import CannotOpenError

CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
LFS = b"version https://git-lfs"
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "spiece.model",
              "sentencepiece.bpe.model", "source.spm", "spm.model")  # fmt: skip


def read_config(folder: Path, name: str) -> dict[str, Any]:
    """The contents of config.json, if they describe a network that can be loaded.

    Raises:
        CannotOpenError: if they do not, or if it is quantised or needs code of its own.
    """
    if not folder.exists():
        raise CannotOpenError(name, "there is no such folder. Check the spelling")
    if not folder.is_dir():
        if folder.suffix == ".gguf":
            raise CannotOpenError(name, _GGUF)
        raise CannotOpenError(name, "it is a file. Give the folder that config.json lies in")
    path = folder / CONFIG
    if not path.is_file():
        raise CannotOpenError(name, _without_config(folder))
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CannotOpenError(name, "its config.json cannot be read. Download it again") from error
    if not isinstance(config, dict):
        raise CannotOpenError(name, "its config.json does not hold a configuration")
    if "auto_map" in config:
        raise CannotOpenError(
            name, "it brings program code of its own, which is never run here. Only networks that "
            "transformers itself can build are shown",
        )  # fmt: skip
    if config.get("quantization_config"):
        raise CannotOpenError(
            name, "its weights are quantised, so its equations hold only roughly. Take the "
            "network that it was made from",
        )  # fmt: skip
    if not isinstance(config.get("model_type"), str):
        raise CannotOpenError(name, "its config.json does not say what type of network it is")
    return config


_GGUF = ("it is in the GGUF format, whose weights are mostly quantised. Take the same network "
         "with safetensors weights")  # fmt: skip


def _without_config(folder: Path) -> str:
    if (folder / "adapter_config.json").is_file():
        return ("it is an adapter (LoRA) without the network it belongs to. Merge the two, save "
                "them, and give that folder")  # fmt: skip
    if any(folder.glob("*.gguf")):
        return _GGUF
    return "there is no config.json in it, so it is no network that transformers has saved"


def check_weights(folder: Path, name: str) -> None:
    """See that the weights are complete, undamaged and safetensors.

    Raises:
        CannotOpenError: if they are not; the message says which file and why.
    """
    files = sorted(folder.glob("*.safetensors"))
    if (folder / INDEX).is_file():
        try:
            shards = set(json.loads((folder / INDEX).read_text())["weight_map"].values())
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise CannotOpenError(name, f"its {INDEX} cannot be read") from error
        missing = sorted(str(shard) for shard in shards if not (folder / str(shard)).is_file())
        if missing:
            raise CannotOpenError(
                name, f"{len(missing)} of its {len(shards)} weight files are missing, first "
                f"{missing[0]}. Download it again",
            )  # fmt: skip
    if not files:
        if any(file.suffix in (".bin", ".pt", ".pth") for file in folder.iterdir()):
            raise CannotOpenError(
                name, "its weights are a pickle (.bin), which could run any code. Only safetensors "
                "are read: save it again with save_pretrained",
            )  # fmt: skip
        raise CannotOpenError(name, "there are no weights (.safetensors) in it")
    for file in files:
        _check_file(file, name)


def _check_file(file: Path, name: str) -> None:
    try:
        with file.open("rb") as opened:
            if opened.read(len(LFS)) == LFS:
                raise CannotOpenError(
                    name, f"{file.name} is not the weights but a Git LFS pointer to them. Run "
                    "“git lfs pull” in that folder",
                )  # fmt: skip
        with safe_open(str(file), "pt"):
            pass
    except (SafetensorError, OSError) as error:
        raise CannotOpenError(
            name, f"{file.name} is cut off or damaged. Download it again"
        ) from error


def check_tokenizer(folder: Path, name: str) -> None:
    """See that there is a tokenizer: without its files transformers makes an empty one.

    Raises:
        CannotOpenError: if there is none.
    """
    if not any((folder / file).is_file() for file in TOKENIZERS):
        raise CannotOpenError(
            name, "there is no tokenizer in it (tokenizer.json), so no text could be read. Save "
            "the tokenizer into the same folder",
        )  # fmt: skip
