"""An external network from its folder or name: sized, loaded and proved, or refused in words.

transformers is imported when the first one is opened.
"""

import copy
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.models.external.files import check_tokenizer, check_weights, read_config
from ffnviz.models.external.hooks import remove_copied
from ffnviz.models.external.hub import SMALL, WEIGHTS, fetch
from ffnviz.models.external.loading import (
    LoadRequest,
    headed_kind,
    kind_of,
    library_config,
    loaded,
    tokenizer_of,
    unread_head,
    without_chance,
)
from ffnviz.models.external.memory import Footprint, dtype_name, footprint, free_bytes, too_large
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.probe import find_probe, longest_text
from ffnviz.models.external.proof import prove
from ffnviz.models.external.refusal import CannotOpenError, NotProvedError, in_short
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.installing import install

NO_NAMES = ("model", "checkpoint")  # folder names that say nothing
COLOURS = ("#009e73", "#cc79a7", "#d55e00", "#8a6d00", "#5e60ce")  # in the order of opening
DEPTH = re.compile(r"(^|_)(n_layer|layers|num_blocks)$")  # in config.json
DEEPEST = 1_000  # as in Wang et al. 2022, DeepNet
Say = Callable[[str], None]


def open_external(
    wanted: LoadRequest,
    name: str | None = None,
    colour: str = COLOURS[0],
    say: Say = lambda _: None,
    label: str = "",
    longest: int | None = None,
) -> ExternalNetwork:
    """The requested network, loaded and proved.

    Args:
        wanted: which network, and how it is to be loaded.
        name: what links call it; None makes one of its folder's name.
        colour: on pages.
        say: called with lines of text: how large it is before it is loaded, then what was proved.
        label: what pages call it; empty makes one of its folder's name.
        longest: the most tokens it is to read; None takes as many as it can.

    Raises:
        CannotOpenError: a sentence in plain words says what was wrong and what to do.
    """
    transformers = _transformers(wanted.name)
    here = Path(wanted.name).expanduser()
    local = here.exists() or _looks_like_a_path(wanted.name)
    folder = here if local else fetch(wanted.name, wanted.revision, SMALL)
    settings = read_config(folder, wanted.name)
    _check_depth(settings, wanted.name)
    config = library_config(transformers, folder, wanted.name)
    kind, part = kind_of(transformers, config, settings), ""
    if config.is_encoder_decoder:
        part = "; its encoder, which reads the text, is shown without its decoder"
        # The class for encoders alone accepts no other configuration.
        config.is_encoder_decoder = kind is not transformers.AutoModelForTextEncoding
    size = _sized(kind, config, wanted)
    in_words = size.in_words + part
    say(f"{wanted.name}: {in_words}")
    if not local:
        folder = fetch(wanted.name, wanted.revision, [*SMALL, *WEIGHTS])
    check_weights(folder, wanted.name)
    check_tokenizer(folder, wanted.name)
    load = partial(loaded, config=config, folder=folder, wanted=wanted, size=size)
    found = load(kind)
    headed = headed_kind(transformers, config)
    if kind is transformers.AutoModel and headed and unread_head(found, folder):
        size = _sized(headed, config, wanted)
        load, in_words = partial(load, size=size), size.in_words
        found = load(headed)
    model = found.model
    tokenizer = tokenizer_of(transformers, folder, wanted.name, model)
    probe, changed = find_probe(model, tokenizer, wanted.name, wanted.device)
    load_base = partial(load, transformers.AutoModel)
    model = without_chance(found, probe, load_base, wanted.name)
    label = label or default_label(wanted.name)
    name, about = name or slug(label), f"{label}: {in_words}"
    if size.dtype != torch.float32:
        label = f"{label} ({dtype_name(size.dtype)})"
    network = proved_network(
        model, tokenizer, probe, changed, wanted.name, name, label, colour, about, longest
    )
    unread = "" if network.head or part else unread_head(found, folder)
    if unread:
        raise CannotOpenError(
            wanted.name, f"{unread} in its weights looks like a word head, and no class of "
            f"transformers for the type {config.model_type} reads it. Save the network without "
            "it to see its FFNs alone",
        )  # fmt: skip
    for line in network.proof.in_words:
        say(line)
    return network


def proved_network(
    model: nn.Module,
    tokenizer: ExternalTokenizer,
    probe: Tensor,
    changed: int,
    asked: str,
    name: str,
    label: str,
    colour: str,
    about: str = "",
    longest: int | None = None,
) -> ExternalNetwork:
    """A network in memory, proved on a probe; `prove` explains `probe` and `changed`.

    Raises:
        CannotOpenError: if an equation does not hold.
    """
    remove_copied(model)
    try:
        proof = prove(model, probe, changed)
    except NotProvedError as error:
        raise CannotOpenError(
            asked, f"it cannot be shown, as its equations could not be proved. {error}"
        ) from error
    most = longest_text(model, probe, longest)
    return ExternalNetwork(
        name, label, colour, model, tokenizer,
        proof=proof, probe=probe, max_tokens=most, about=about,
    )  # fmt: skip


def default_label(name: str) -> str:
    """What pages call a network of that folder or name."""
    path = Path(name).expanduser()
    folder = path.resolve() if path.exists() else path
    return folder.parent.name if folder.name in NO_NAMES and folder.parent.name else folder.name


def slug(label: str) -> str:
    """A label in the letters that a link may have."""
    return "-".join(re.findall("[a-z0-9]+", label.lower())) or "network"


def _looks_like_a_path(name: str) -> bool:
    return name.startswith((".", "~", "/", "\\")) or name.count("/") > 1 or name.endswith("/")


def _transformers(name: str) -> Any:
    os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
    try:
        import transformers
    except ImportError as error:
        raise CannotOpenError(
            name, "networks of other people need the package transformers, which is not there. "
            f"Install it: {install('hf')}. Our own twins are called relu and gelu",
        ) from error  # fmt: skip
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return transformers


def _check_depth(settings: dict[str, Any], name: str) -> None:
    """See that building the network, even without weights, does not take minutes.

    Raises:
        CannotOpenError: if config.json announces more blocks than any network has.
    """
    for key, number in settings.items():
        if isinstance(number, dict):
            _check_depth(number, name)
        elif DEPTH.search(key) and isinstance(number, int) and number > DEEPEST:
            raise CannotOpenError(
                name, f"its config.json announces {number:,} blocks ({key}). No more than "
                f"{DEEPEST:,} are built. Check that number",
            )  # fmt: skip


def _sized(kind: Any, config: Any, wanted: LoadRequest) -> Footprint:
    if wanted.device.type == "cuda" and not torch.cuda.is_available():
        raise CannotOpenError(
            wanted.name, "there is no GPU here that PyTorch can use. Give --device cpu"
        )
    try:
        size = footprint(
            lambda: kind.from_config(copy.deepcopy(config)), wanted.device, wanted.dtype
        )
    except Exception as error:  # no such class for this type, or sizes that do not go together
        if "Unrecognized configuration" in str(error):
            why = ("none of transformers' general classes for text loads networks of the type "
                   f"{config.model_type}, so it cannot be shown")  # fmt: skip
        else:
            why = f"its config.json describes no network that can be built ({in_short(error)})"
        raise CannotOpenError(wanted.name, why) from error
    too_much = too_large(size, wanted.device, free_bytes(wanted.device))
    if too_much:
        raise CannotOpenError(wanted.name, too_much)
    return size
