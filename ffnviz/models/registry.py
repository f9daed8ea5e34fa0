"""The networks at hand: our twins, and those that are to be shown beside them or instead."""

import colorsys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, overload

import torch

from ffnviz.models.config import NetworkRequest, config
from ffnviz.models.device import usable_device
from ffnviz.models.encoder.folder import COUNTS
from ffnviz.models.encoder.model import TWINS, Model
from ffnviz.models.encoder.model import load as load_ours
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import COLOURS, default_label, open_external, slug
from ffnviz.models.external.proof import LONGEST
from ffnviz.models.external.refusal import CannotOpenError
from ffnviz.models.learned import learned_folder

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
Say = Callable[[str], None]
OURS = "one of ours, whose modules themselves record what they do."
GOLDEN = 0.618034  # of a turn around the hues: no two multiples of it coincide


def available_networks() -> Mapping[str, NetworkRequest | None]:
    """The networks to choose from, by their ids; None stands for a twin of ours."""
    networks: dict[str, NetworkRequest | None] = {}
    for request in config().networks:
        name = first = slug(default_label(request.name))
        number = 2
        while name in networks or name in TWINS:
            name, number = f"{first}-{number}", number + 1
        networks[name] = request
    return networks | (dict.fromkeys(TWINS) if config().twins or not networks else {})


_OPENED: dict[tuple[str, str], Model | ExternalNetwork] = {}
_ONE_AT_A_TIME = threading.Lock()


def open_network(name: str, device: str, say: Say = lambda _: None) -> Model | ExternalNetwork:
    """A network by its id; one that was asked for with --model is opened once and kept."""
    request = available_networks().get(name)
    if request is None:
        return load_ours(learned_folder(name) or name, device)
    try:
        return _opened(name, request, device, say)
    except CannotOpenError:
        if device == "cpu":
            raise
        return _opened(name, request, "cpu", say)  # the GPU may have too little memory for it


def usual_device() -> str:
    """Where networks run by default: on the GPU that PyTorch finds, or the CPU."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _opened(name: str, request: NetworkRequest, device: str, say: Say) -> Model | ExternalNetwork:
    with _ONE_AT_A_TIME:
        key = (name, device)
        if key in _OPENED:
            return _OPENED[key]
        place = [id_ for id_, each in available_networks().items() if each].index(name)
        colour, label = colour_of(place), _label(request.name)
        if is_ours(request.name):
            own = load_ours(request.name, device)
            _OPENED[key] = replace(own, name=name, label=label, colour=colour)
            say(f"{label}: {OURS}")
        else:
            _OPENED[key] = open_external(
                request, torch.device(device), name, colour, say, label, LONGEST
            )
        return _OPENED[key]


def colour_of(place: int) -> str:
    """A colour for each network that is not a twin, by its place among them."""
    if place < len(COLOURS):
        return COLOURS[place]
    red, green, blue = colorsys.hls_to_rgb(place * GOLDEN % 1, 0.42, 0.6)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def _label(name: str) -> str:
    """What pages call it: its folder, with the parent's name if another network has the same."""
    label = default_label(name)
    others = filter(None, available_networks().values())
    path = Path(name).expanduser()
    parent = path.resolve().parent.name if path.exists() else ""
    is_shared = [default_label(other.name) for other in others].count(label) > 1
    return f"{parent}/{label}" if is_shared and parent else label


@overload
def load(
    name: Literal["relu", "gelu"], device: str | torch.device = "cpu"
) -> Model: ...  # pragma: no cover
@overload
def load(
    name: str | Path,
    device: str | torch.device = "cpu",
    *,
    dtype: str | torch.dtype | None = None,
    revision: str | None = None,
) -> Model | ExternalNetwork: ...  # pragma: no cover
def load(
    name: str | Path,
    device: str | torch.device = "cpu",
    *,
    dtype: str | torch.dtype | None = None,
    revision: str | None = None,
) -> Model | ExternalNetwork:
    """A twin ("relu", "gelu"), a folder of ours, or a network that transformers can build.

    One of the last kind, by its folder or its name on the Hugging Face Hub, is proved first: its
    equations are tested on every block, and what cannot be proved is refused.

    Args:
        name: which.
        device: where it is to run.
        dtype: "float32" or "bfloat16", or PyTorch's own. Ours have float32; of others None takes
            float32 for those of fewer than 2 billion parameters on the CPU, else bfloat16.
        revision: on the Hub; None takes the newest.

    Raises:
        TypeError: if the name is neither a text nor a path.
        ModelFolderError: if it cannot be opened; the message says why, and what to do.
        ValueError: for another dtype, or a name that is empty; for a revision of ours.
        RuntimeError: in a sentence, if the device cannot be used.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> model.sizes.n_blocks, model.sizes.d_model, model.sizes.d_ff
        (2, 512, 2048)
    """
    if not isinstance(name, str | Path):
        raise TypeError(
            f"name = {name!r}: give relu, gelu, a folder, or a name on the Hub. A network in "
            "memory is opened by ffnviz.from_module."
        )
    if not str(name).strip():
        raise ValueError("The name is empty: give relu, gelu, a folder, or a name on the Hub.")
    wanted = next((name for name, kind in DTYPES.items() if dtype in (name, kind)), None)
    if dtype is not None and wanted is None:
        raise ValueError(f"dtype = {dtype!r} is not allowed: it must be {' or '.join(DTYPES)}.")
    if is_ours(name):
        if wanted not in (None, "float32") or revision is not None:
            raise ValueError(
                f"{name} is one of ours: it has float32 and no revisions. Leave out "
                f"{'dtype' if revision is None else 'revision'}."
            )
        return load_ours(name, device)
    return open_external(NetworkRequest(str(name), wanted, revision), usable_device(device))


def is_ours(name: str | Path) -> bool:
    """Whether it is a twin or a folder of our own kind; a path that leads nowhere counts as one."""
    folder = Path(name)
    if str(name) in TWINS or (folder / COUNTS).exists():
        return True
    if folder.is_dir():
        # A folder of ours without token_counts.json, so that the error names the missing file.
        return (folder / "weights.safetensors").exists()
    return isinstance(name, Path) and not folder.exists()
