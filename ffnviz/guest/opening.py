"""A network of somebody else from its folder or name: sized, loaded, proved, or refused in words.

transformers is imported in here alone, when the first network of somebody else is asked for.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.guest.files import check_tokenizer, check_weights, read_config
from ffnviz.guest.hub import SMALL, WEIGHTS, fetch
from ffnviz.guest.memory import Footprint, dtype_name, footprint, free_bytes, gigabytes, too_large
from ffnviz.guest.network import Guest
from ffnviz.guest.proof import prove
from ffnviz.guest.refusal import CannotOpenError, NotProvedError
from ffnviz.guest.tail import result_of
from ffnviz.guest.tokenizer import GuestTokenizer

LONGEST = 128  # tokens; as many as the twins read
PROBE = "She opened the door and looked out at the rain."
NO_NAMES = ("model", "checkpoint")  # of a folder that say nothing
CAUSAL = ("ForCausalLM", "LMHeadModel")
MASKED = ("ForMaskedLM", "ForPreTraining", "WithLMHeadModel")
CPU = torch.device("cpu")
COLOURS = ("#009e73", "#cc79a7", "#d55e00", "#8a6d00", "#5e60ce")  # in the order of coming
Say = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """Which network, and how it is to be loaded.

    Attributes:
        name: a folder, or a name on the Hugging Face Hub.
        device: where it is to run.
        dtype: None takes float32 for small ones on the CPU, else bfloat16.
        revision: on the Hub; None takes the newest.
    """

    name: str
    device: torch.device = CPU
    dtype: torch.dtype | None = None
    revision: str | None = None


def open_guest(
    wanted: Wanted, name: str | None = None, colour: str = COLOURS[0], say: Say = lambda _: None
) -> Guest:
    """A network, proved.

    Args:
        wanted: which.
        name: what links are to call it; None makes one of its folder's.
        colour: on pages.
        say: told how large it is before it is loaded, and what was proved.

    Raises:
        CannotOpenError: a sentence in plain words says what was wrong and what to do.
    """
    transformers = _transformers(wanted.name)
    here = Path(wanted.name).expanduser()
    local = here.exists() or _looks_like_a_path(wanted.name)
    folder = here if local else fetch(wanted.name, wanted.revision, SMALL)
    told = read_config(folder, wanted.name)
    config = _config(transformers, folder, wanted.name)
    kind = _kind(transformers, told)
    size = _sized(transformers, kind, config, wanted)
    say(f"{wanted.name}: {size.in_words}")
    if not local:
        folder = fetch(wanted.name, wanted.revision, [*SMALL, *WEIGHTS])
    check_weights(folder, wanted.name)
    check_tokenizer(folder, wanted.name)
    model, missing = _loaded(transformers, kind, folder, wanted, size)
    tokenizer = _tokenizer(transformers, folder, wanted.name, model)
    probe, changed = probe_ids(tokenizer, wanted.device)
    model = _whole(transformers, model, missing, probe, folder, wanted, size)
    label = label_of(wanted.name)
    dtype = dtype_name(size.dtype)
    about = f"{label}: {size.in_words}"
    network = proved_guest(
        model, tokenizer, probe, changed, wanted.name, name or slug(label),
        label if dtype == "float32" else f"{label} ({dtype})", colour, about,
    )  # fmt: skip
    for line in network.proof.in_words:
        say(line)
    return network


def proved_guest(
    model: nn.Module,
    tokenizer: GuestTokenizer,
    probe: Tensor,
    changed: int,
    asked: str,
    name: str,
    label: str,
    colour: str,
    about: str = "",
) -> Guest:
    """A network in memory, proved on a probe; see `prove` for `probe` and `changed`.

    Raises:
        CannotOpenError: if an equation does not hold.
    """
    try:
        proof = prove(model, probe, changed)
    except NotProvedError as error:
        raise CannotOpenError(
            asked, f"it cannot be shown, as its equations could not be proved. {error}"
        ) from error
    longest = _longest(model, probe)
    return Guest(name, label, colour, model, tokenizer, proof, probe, longest, about)


def label_of(name: str) -> str:
    """What a page calls a network of that folder or name."""
    path = Path(name).expanduser()
    folder = path.resolve() if path.exists() else path
    return folder.parent.name if folder.name in NO_NAMES and folder.parent.name else folder.name


def slug(label: str) -> str:
    """What a link can call it."""
    kept = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in label.lower())
    return "-".join(filter(None, kept.split("-"))) or "network"


def probe_ids(tokenizer: GuestTokenizer, device: torch.device) -> tuple[Tensor, int]:
    """(2, T): a sentence and the same with another word near its end; and that word's place."""
    tokens = tokenizer.encode(PROBE, 24).tokens
    ids = [token.id for token in tokens]
    words = [place for place, token in enumerate(tokens) if not token.special]
    changed = words[-1]
    other = list(ids)
    other[changed] = next((i for i in reversed(ids[:changed]) if i != ids[changed]), 0)
    return torch.tensor([ids, other], device=device), changed


def _looks_like_a_path(name: str) -> bool:
    return name.startswith((".", "~", "/", "\\")) or name.count("/") > 1 or name.endswith("/")


def _transformers(name: str) -> Any:
    os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
    try:
        import transformers
    except ImportError as error:
        raise CannotOpenError(
            name, "networks of other people need the package transformers, which is not there. "
            "Install it: pip install 'ffnviz[hf]'. Our own twins are called relu and gelu",
        ) from error  # fmt: skip
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return transformers


def _config(transformers: Any, folder: Path, name: str) -> Any:
    try:
        config = transformers.AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # the library checks each type's fields in its own way
        if "does not recognize" in str(error) or isinstance(error, KeyError):
            why = (f"transformers {transformers.__version__} does not know this type of network. "
                   "A newer version may")  # fmt: skip
        else:
            why = f"its config.json makes no sense to transformers ({_short(error)})"
        raise CannotOpenError(name, why) from error
    config.use_cache = False  # nothing is written on from what was kept
    return config


def _kind(transformers: Any, told: dict[str, Any]) -> Any:
    """Which of the library's general classes loads it, by what the configuration says it was."""
    architecture = str((told.get("architectures") or [""])[0])
    if told.get("is_encoder_decoder"):
        return transformers.AutoModelForTextEncoding  # its encoder reads; the rest is not shown
    if architecture.endswith("EncoderModel"):
        return transformers.AutoModelForTextEncoding
    if architecture.endswith(MASKED):
        return transformers.AutoModelForMaskedLM
    if architecture.endswith(CAUSAL):
        return transformers.AutoModelForCausalLM
    return transformers.AutoModel


def _sized(transformers: Any, kind: Any, config: Any, wanted: Wanted) -> Footprint:
    if wanted.device.type == "cuda" and not torch.cuda.is_available():
        raise CannotOpenError(
            wanted.name, "there is no GPU here that PyTorch can use. Give --device cpu"
        )
    try:
        size = footprint(lambda: kind.from_config(config), wanted.device, wanted.dtype)
    except Exception as error:  # no such class for this type, or sizes that do not go together
        if kind is not transformers.AutoModel and "Unrecognized configuration" in str(error):
            why = "transformers has no text network of this type"
        else:
            why = f"its config.json describes no network that can be built ({_short(error)})"
        raise CannotOpenError(wanted.name, why) from error
    too_much = too_large(size, wanted.device, free_bytes(wanted.device))
    if too_much:
        raise CannotOpenError(wanted.name, too_much)
    return size


def _loaded(
    transformers: Any, kind: Any, folder: Path, wanted: Wanted, size: Footprint
) -> tuple[nn.Module, list[str]]:
    config = _config(transformers, folder, wanted.name)
    try:
        model, info = kind.from_pretrained(
            str(folder), config=config, dtype=size.dtype, use_safetensors=True,
            trust_remote_code=False, output_loading_info=True,
        )  # fmt: skip
        model = model.eval().requires_grad_(False).to(wanted.device)
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise CannotOpenError(
            wanted.name, f"memory ran out while loading {gigabytes(size.n_bytes)}. Close other "
            "programs, or give --dtype bfloat16",
        ) from error  # fmt: skip
    except Exception as error:  # the library raises many kinds
        if "mismatch" in str(error):
            why = ("the shapes of its weights are not those that its config.json tells. The two "
                   "are of different networks")  # fmt: skip
        else:
            why = f"transformers could not load it ({_short(error)})"
        raise CannotOpenError(wanted.name, why) from error
    return model, sorted(info["missing_keys"])


@torch.inference_mode()
def _whole(
    transformers: Any,
    model: nn.Module,
    missing: list[str],
    probe: Tensor,
    folder: Path,
    wanted: Wanted,
    size: Footprint,
) -> nn.Module:
    """The network if no weight that matters is missing; without its word head if that is.

    The library fills what is missing with random numbers and goes on. Here it becomes NaN, so
    that whatever depends on it is seen to.
    """
    if not missing or not _depends_on(model, missing, probe):
        return model
    base, lacking = _loaded(transformers, transformers.AutoModel, folder, wanted, size)
    if type(base) is not type(model) and not _depends_on(base, lacking, probe):
        return base
    raise CannotOpenError(
        wanted.name, f"{len(lacking) or len(missing)} of its weights are missing, first "
        f"{(lacking or missing)[0]}. Without them it would compute with random numbers",
    )  # fmt: skip


def _depends_on(model: nn.Module, missing: list[str], probe: Tensor) -> bool:
    known = dict(model.named_parameters(remove_duplicate=False))
    for name in missing:
        if name in known:
            known[name].data.fill_(float("nan"))
    return not bool(torch.isfinite(result_of(model(input_ids=probe))).all())


def _tokenizer(transformers: Any, folder: Path, name: str, model: Any) -> GuestTokenizer:
    try:
        fast = transformers.AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # of many kinds, also for packages that are not there
        raise CannotOpenError(
            name, f"its tokenizer cannot be loaded ({_short(error)}). A tokenizer.json in its "
            "folder is what is needed",
        ) from error  # fmt: skip
    if not getattr(fast, "is_fast", False):
        raise CannotOpenError(
            name, "its tokenizer does not tell which characters a token stands for. A "
            "tokenizer.json in its folder is what is needed",
        )  # fmt: skip
    n_rows = len(model.get_input_embeddings().weight)
    if len(fast) > n_rows:
        raise CannotOpenError(
            name, f"its tokenizer has {len(fast):,} entries and the network only {n_rows:,} word "
            "vectors. The two are of different networks",
        )  # fmt: skip
    return GuestTokenizer(fast, n_rows)


@torch.inference_mode()
def _longest(model: Any, probe: Tensor) -> int:
    """The most tokens it reads, at most as many as the twins do: tried, as tables may be offset."""
    told = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    most = min(LONGEST, told) if isinstance(told, int) and told > 0 else LONGEST
    if most == LONGEST and (told is None or told >= 2 * LONGEST):
        return most
    for length in (most, most - 2, most // 2):
        try:
            model(input_ids=probe[:1, :1].expand(1, length))
        except (IndexError, RuntimeError, ValueError):
            continue
        return length
    return int(probe.shape[1])


def _short(error: Exception) -> str:
    line = " ".join(str(error).split())
    return f"{type(error).__name__}: {line[:160]}{' …' if len(line) > 160 else ''}"
