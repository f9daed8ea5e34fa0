"""An external network from its folder or name: sized, loaded and proved, or refused in words."""

import copy
import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from ffnviz.models.config import NetworkRequest, install
from ffnviz.models.external.hooks import remove_copied
from ffnviz.models.external.loading import (
    check_mode,
    check_numbers,
    check_weights,
    checked_tokenizer,
    headed_kind,
    kind_of,
    library_config,
    loaded,
    shown_part,
    tokenizer_of,
    unread_head,
    without_chance,
)
from ffnviz.models.external.memory import (
    Footprint,
    dtype_name,
    footprint,
    free_bytes,
    keep_freed_traces,
    too_large,
)
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.proof import find_probe, longest_text, prove
from ffnviz.models.external.refusal import (
    NotProvedError,
    Refused,
    in_short,
    refused_as,
)
from ffnviz.models.external.tokenizer import ExternalTokenizer

SMALL = ["*.json", "*.txt", "*.model", "*.spm"]
WEIGHTS = ["*.safetensors"]


def fetch(name: str, revision: str | None, patterns: list[str]) -> Path:
    """The folder in the cache that holds a repository's top-level files of those patterns."""
    from huggingface_hub import errors, snapshot_download

    at = f" at revision “{revision}”" if revision else ""
    try:
        return Path(
            snapshot_download(
                name, revision=revision, allow_patterns=patterns, ignore_patterns=["*/*"]
            )
        )
    except errors.HFValidationError as error:
        raise Refused(
            "it is neither a folder nor a name on the Hugging Face Hub. A name reads like "
            "“gpt2” or “google/gemma-2-2b”"
        ) from error
    except errors.GatedRepoError as error:
        raise Refused(
            "its owner asks you to accept terms first. Do so on its page on the Hugging Face "
            "Hub, and log in with “hf auth login”"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise Refused(f"there is no such revision: “{revision}”") from error
    except errors.RepositoryNotFoundError as error:
        raise Refused(
            "no folder and no public network on the Hugging Face Hub has that name. "
            "Check the spelling; for a private one, log in with “hf auth login”"
        ) from error
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        raise Refused(
            f"it is not on this computer{at}, and the Hugging Face Hub cannot be reached. "
            "Connect once to download it, or give a folder"
        ) from error
    except (errors.HTTPError, OSError) as error:  # of the server, the network, or the disk
        raise Refused(
            f"it could not be fetched from the Hugging Face Hub{at} "
            f"({type(error).__name__}). Try again later"
        ) from error


CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
LFS = b"version https://git-lfs"
_OF_SENTENCEPIECE = ("spiece.model", "sentencepiece.bpe.model", "source.spm", "spm.model")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", *_OF_SENTENCEPIECE)
DEPTH = re.compile(r"(^|_)(n_layer|layers|num_blocks)$")  # in config.json
DEEPEST = 1_000  # as in Wang et al. 2022, DeepNet
_GGUF = (
    "it is in the GGUF format, whose weights are mostly quantised. Take the same network "
    "with safetensors weights"
)


def read_config(folder: Path) -> dict[str, Any]:
    """The contents of config.json, if they describe a network that can be loaded."""
    if not folder.exists():
        raise Refused("there is no such folder. Check the spelling")
    if not folder.is_dir():
        if folder.suffix == ".gguf":
            raise Refused(_GGUF)
        raise Refused("it is a file. Give the folder that config.json lies in")
    path = folder / CONFIG
    if not path.is_file():
        if (folder / "adapter_config.json").is_file():
            raise Refused(
                "it is an adapter (LoRA) without the network it belongs to. Merge the two, save "
                "them, and give that folder"
            )
        if any(folder.glob("*.gguf")):
            raise Refused(_GGUF)
        raise Refused("there is no config.json in it, so transformers has not saved this network")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refused("its config.json cannot be read. Download it again") from error
    if not isinstance(config, dict):
        raise Refused("its config.json does not hold a configuration")
    if "auto_map" in config:
        raise Refused(
            "it brings program code of its own, which is never run here. Only networks that "
            "transformers itself can build are shown"
        )
    if config.get("quantization_config"):
        raise Refused(
            "its weights are quantised, so its equations hold only roughly. Take the "
            "network that it was made from"
        )
    if not isinstance(config.get("model_type"), str):
        raise Refused("its config.json does not say what type of network it is")
    _check_depth(config)
    return config


def _check_depth(settings: dict[str, Any]) -> None:
    """See that building the network, even without weights, does not take minutes."""
    for key, number in settings.items():
        if isinstance(number, dict):
            _check_depth(number)
        elif DEPTH.search(key) and isinstance(number, int) and number > DEEPEST:
            raise Refused(
                f"its config.json announces {number:,} blocks ({key}). No more than "
                f"{DEEPEST:,} are built. Check that number"
            )


def check_files(folder: Path) -> None:
    """See that a tokenizer is there, and weights that are complete, undamaged and safetensors."""
    files = sorted(folder.glob("*.safetensors"))
    if (folder / INDEX).is_file():
        try:
            shards = set(json.loads((folder / INDEX).read_text())["weight_map"].values())
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise Refused(f"its {INDEX} cannot be read") from error
        missing = sorted(str(shard) for shard in shards if not (folder / str(shard)).is_file())
        if missing:
            raise Refused(
                f"{len(missing)} of its {len(shards)} weight files are missing, first "
                f"{missing[0]}. Download it again"
            )
    if not files:
        if any(file.suffix in (".bin", ".pt", ".pth") for file in folder.iterdir()):
            raise Refused(
                "its weights are a pickle (.bin), which could run any code. Only safetensors "
                "are read: save it again with save_pretrained"
            )
        raise Refused("there are no weights (.safetensors) in it")
    for file in files:
        try:
            with file.open("rb") as opened:
                if opened.read(len(LFS)) == LFS:
                    raise Refused(
                        f"{file.name} is not the weights but a Git LFS pointer to them. Run "
                        "“git lfs pull” in that folder"
                    )
            with safe_open(str(file), "pt"):
                pass
        except (SafetensorError, OSError) as error:
            raise Refused(f"{file.name} is cut off or damaged. Download it again") from error
    # Without a tokenizer's files transformers makes an empty one.
    if not any((folder / file).is_file() for file in TOKENIZERS):
        raise Refused(
            "there is no tokenizer in it (tokenizer.json), so no text could be read. Save "
            "the tokenizer into the same folder"
        )


NO_NAMES = ("model", "checkpoint")  # folder names that say nothing
COLOURS = ("#009e73", "#cc79a7", "#d55e00", "#8a6d00", "#5e60ce")  # in the order of opening
CPU = torch.device("cpu")
Say = Callable[[str], None]


def open_external(
    wanted: NetworkRequest,
    device: torch.device = CPU,
    name: str | None = None,
    colour: str = COLOURS[0],
    say: Say = lambda _: None,
    label: str = "",
    longest: int | None = None,
) -> ExternalNetwork:
    """The requested network, loaded and proved; a CannotOpenError says in plain words why not.

    `name`, in links, and `label`, on pages, are made of its folder's name if they are not given.
    `say` is told how large it is before it is loaded, then what was proved. `longest`: the most
    tokens it is to read; None takes as many as it can.
    """
    with refused_as(wanted.name):
        transformers = _transformers()
        here = Path(wanted.name).expanduser()
        like_a_path = wanted.name.startswith((".", "~", "/", "\\")) or wanted.name.endswith("/")
        local = here.exists() or like_a_path or wanted.name.count("/") > 1
        folder = here if local else fetch(wanted.name, wanted.revision, SMALL)
        settings = read_config(folder)
        config = library_config(transformers, folder)
        kind, part = kind_of(transformers, config, settings), ""
        if config.is_encoder_decoder:
            part = "; its encoder, which reads the text, is shown without its decoder"
            # The class for encoders alone accepts no other configuration.
            config.is_encoder_decoder = kind is not transformers.AutoModelForTextEncoding
        size = _sized(kind, config, device, wanted.dtype)
        in_words = size.in_words + part
        say(f"{wanted.name}: {in_words}")
        if not local:
            folder = fetch(wanted.name, wanted.revision, [*SMALL, *WEIGHTS])
        check_files(folder)
        load = partial(loaded, config=config, folder=folder, device=device, size=size)
        found = load(kind)
        headed = headed_kind(transformers, config)
        if kind is transformers.AutoModel and headed and unread_head(found, folder):
            size = _sized(headed, config, device, wanted.dtype)
            load, in_words = partial(load, size=size), size.in_words
            found = load(headed)
        tokenizer = tokenizer_of(transformers, folder, found.model)
        probe, changed = find_probe(found.model, tokenizer, device)
        model = without_chance(found, probe, partial(load, transformers.AutoModel))
        label = label or default_label(wanted.name)
        name, about = name or slug(label), f"{label}: {in_words}"
        if size.dtype != torch.float32:
            label = f"{label} ({dtype_name(size.dtype)})"
        network = proved_network(
            model, tokenizer, probe, changed, name, label, colour, about, longest
        )
        if not network.head and not part and (unread := unread_head(found, folder)):
            raise Refused(
                f"{unread} in its weights looks like a word head, and no class of "
                f"transformers for the type {config.model_type} reads it. Save the network without "
                "it to see its FFNs alone"
            )
        for line in network.proof.in_words:
            say(line)
        return network


def proved_network(
    model: nn.Module,
    tokenizer: ExternalTokenizer,
    probe: Tensor,
    changed: int,
    name: str,
    label: str,
    colour: str,
    about: str = "",
    longest: int | None = None,
) -> ExternalNetwork:
    """A network in memory, proved on a probe; `prove` explains `probe` and `changed`."""
    remove_copied(model)
    try:
        proof = prove(model, probe, changed)
    except NotProvedError as error:
        raise Refused(
            f"it cannot be shown, as its equations could not be proved. {error}"
        ) from error
    most = longest_text(model, probe, longest)
    if probe.device.type == "cpu":
        keep_freed_traces()
    return ExternalNetwork(
        name,
        label,
        colour,
        model,
        tokenizer,
        proof=proof,
        probe=probe,
        max_tokens=most,
        about=about,
    )


def default_label(name: str) -> str:
    """What pages call a network of that folder or name."""
    path = Path(name).expanduser()
    folder = path.resolve() if path.exists() else path
    return folder.parent.name if folder.name in NO_NAMES and folder.parent.name else folder.name


def slug(label: str) -> str:
    """A label in the letters that a link may have."""
    return "-".join(re.findall("[a-z0-9]+", label.lower())) or "network"


def _transformers() -> Any:
    os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
    try:
        import transformers
    except ImportError as error:
        raise Refused(
            "other people's networks need the package transformers, which is missing. "
            f"Install it: {install('hf')}. Our own two are called relu and gelu"
        ) from error
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return transformers


def _sized(kind: Any, config: Any, device: torch.device, dtype: str | None) -> Footprint:
    if device.type == "cuda" and not torch.cuda.is_available():
        raise Refused("there is no GPU here that PyTorch can use. Give --device cpu")
    wanted = getattr(torch, dtype) if dtype else None
    try:
        size = footprint(lambda: kind.from_config(copy.deepcopy(config)), device, wanted)
    except Exception as error:  # no such class for this type, or sizes that do not go together
        if "Unrecognized configuration" in str(error):
            why = (
                "none of transformers' general classes for text loads networks of the type "
                f"{config.model_type}, so it cannot be shown"
            )
        else:
            why = f"its config.json describes no network that can be built ({in_short(error)})"
        raise Refused(why) from error
    too_much = too_large(size, device, free_bytes(device))
    if too_much:
        raise Refused(too_much)
    return size


def from_module(
    model: nn.Module, tokenizer: Any, label: str = "", *, longest: int | None = None
) -> ExternalNetwork:
    """Prove and open a network of transformers that is in memory, such as one in training.

    Its weights stay where they are: what is seen is the network itself, and the hooks that are put
    on it do nothing unless somebody records. Weights may go on changing: the next pass proves it
    anew (some passes over its probe of two short texts), and an earlier trace, asked for what it
    has not computed, raises a WeightsChangedError. In training mode every pass is refused.

    Args:
        model: as transformers makes it, in evaluation mode; of one that has a decoder beside its
            encoder, the encoder is seen.
        tokenizer: a PreTrainedTokenizerFast; it is copied.
        label: what pages and messages call it; empty takes the name of its class.
        longest: the most tokens it is to read; None takes as many as it can.

    Raises:
        CannotOpenError: a sentence in plain words says what was wrong and what to do.
        TypeError: if the label is not text.

    Examples:
        >>> model = ffnviz.from_module(gpt2, tokenizer, "my GPT-2")
        >>> model.trace("the cat sat").blocks[1].ffn.hidden.shape
        torch.Size([3, 128])
    """
    if not isinstance(label, str):
        raise TypeError(f"label = {label!r}: give a text: its name on pages and in messages.")
    name = label or type(model).__name__
    with refused_as(name):
        if not hasattr(model, "config") or not isinstance(model, nn.Module):
            raise Refused("it is not a transformers network. A folder is opened by ffnviz.load")
        check_mode(any(module.training for module in model.modules()))
        check_weights(model)
        check_numbers(model)
        seen = shown_part(model)
        words = checked_tokenizer(copy.deepcopy(tokenizer), seen)
        weight = next(seen.parameters())
        probe, changed = find_probe(seen, words, weight.device)
        n = sum(parameter.numel() for parameter in seen.parameters())
        about = f"{name}: {Footprint(n, weight.dtype).in_words}, from memory"
        return proved_network(
            seen, words, probe, changed, slug(name), name, COLOURS[0], about, longest
        )
