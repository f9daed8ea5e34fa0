"""What transformers loads, with its many errors in plain words, and no weight left to chance."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.guest.memory import Footprint, gigabytes
from ffnviz.guest.refusal import CannotOpenError
from ffnviz.guest.tail import result_of
from ffnviz.guest.tokenizer import GuestTokenizer
from ffnviz.guest.wanted import Wanted

CAUSAL = ("ForCausalLM", "LMHeadModel")
MASKED = ("ForMaskedLM", "ForPreTraining", "WithLMHeadModel")


def read_by_library(transformers: Any, folder: Path, name: str) -> Any:
    """The configuration as the library reads it.

    Raises:
        CannotOpenError: if it knows no such type, or the fields do not go together.
    """
    try:
        config = transformers.AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # the library checks each type's fields in its own way
        if "does not recognize" in str(error) or isinstance(error, KeyError):
            why = (f"transformers {transformers.__version__} does not know this type of network. "
                   "A newer version may")  # fmt: skip
        else:
            why = f"its config.json makes no sense to transformers ({in_short(error)})"
        raise CannotOpenError(name, why) from error
    config.use_cache = False  # nothing is written on from what was kept
    return config


def kind_of(transformers: Any, told: dict[str, Any]) -> Any:
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


def loaded(
    transformers: Any, kind: Any, folder: Path, wanted: Wanted, size: Footprint
) -> tuple[nn.Module, list[str]]:
    """The network, ready for inference, and the weights that were missing in its files.

    Raises:
        CannotOpenError: if it cannot be loaded.
    """
    config = read_by_library(transformers, folder, wanted.name)
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
            why = f"transformers could not load it ({in_short(error)})"
        raise CannotOpenError(wanted.name, why) from error
    return model, sorted(info["missing_keys"])


@torch.inference_mode()
def without_chance(
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
    base, lacking = loaded(transformers, transformers.AutoModel, folder, wanted, size)
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


def tokenizer_of(transformers: Any, folder: Path, name: str, model: Any) -> GuestTokenizer:
    """The tokenizer in a folder, for a network with that many word vectors.

    Raises:
        CannotOpenError: if there is none that tells which characters a token stands for.
    """
    try:
        fast = transformers.AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # of many kinds, also for packages that are not there
        raise CannotOpenError(
            name, f"its tokenizer cannot be loaded ({in_short(error)}). A tokenizer.json in its "
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


def in_short(error: Exception) -> str:
    """What an error of a library says, in a line."""
    line = " ".join(str(error).split())
    return f"{type(error).__name__}: {line[:160]}{' …' if len(line) > 160 else ''}"
