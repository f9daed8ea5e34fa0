"""Loading by transformers, with its many errors in plain words and no weight left to chance."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.models.external.memory import Footprint, gigabytes
from ffnviz.models.external.refusal import CannotOpenError, in_short
from ffnviz.models.external.tail import result_of
from ffnviz.models.external.tokenizer import ExternalTokenizer

CAUSAL = ("ForCausalLM", "LMHeadModel")
MASKED = ("ForMaskedLM", "ForPreTraining", "WithLMHeadModel")
CPU = torch.device("cpu")


@dataclass(frozen=True)
class LoadRequest:
    """Which network, and how it is to be loaded."""

    name: str  # a folder, or a name on the Hugging Face Hub
    device: torch.device = CPU  # where it is to run
    dtype: torch.dtype | None = None  # None takes float32 for small ones on the CPU, else bfloat16
    revision: str | None = None  # on the Hub; None takes the newest


def library_config(transformers: Any, folder: Path, name: str) -> Any:
    """The configuration as the library reads it.

    Raises:
        CannotOpenError: if it knows no such type, or the fields contradict each other.
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
    config.use_cache = False  # each pass reads its whole text
    return config


def kind_of(transformers: Any, config: Any, settings: dict[str, Any]) -> Any:
    """The library's general class that loads it, by the architecture that its file names."""
    architecture = str((settings.get("architectures") or [""])[0])
    T, kinds = transformers, []  # noqa: N806
    if config.is_encoder_decoder or architecture.endswith("EncoderModel"):
        kinds += [(T.AutoModelForTextEncoding, T.MODEL_FOR_TEXT_ENCODING_MAPPING)]
        kinds += [(T.AutoModelForSeq2SeqLM, T.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING)]
    elif architecture.endswith(MASKED):
        kinds += [(T.AutoModelForMaskedLM, T.MODEL_FOR_MASKED_LM_MAPPING)]
    elif architecture.endswith(CAUSAL):
        kinds += [(T.AutoModelForCausalLM, T.MODEL_FOR_CAUSAL_LM_MAPPING)]
    return next((kind for kind, known in kinds if type(config) in known), T.AutoModel)


def shown_part(model: Any, name: str) -> Any:
    """The network; of one with an encoder and a decoder, the encoder, which reads the text.

    Raises:
        CannotOpenError: if the encoder is no network of its own.
    """
    if not model.config.is_encoder_decoder:
        return model
    encoder = model.get_encoder()
    if not hasattr(encoder, "config"):
        raise CannotOpenError(
            name, "it has an encoder and a decoder, and of such networks the encoder alone is "
            f"shown. In transformers this one's ({type(encoder).__name__}) cannot be run by itself",
        )  # fmt: skip
    return encoder


def loaded(
    kind: Any, config: Any, folder: Path, wanted: LoadRequest, size: Footprint
) -> tuple[nn.Module, dict[str, Tensor]]:
    """What is shown of the network, ready for inference, and its weights that no file had.

    Raises:
        CannotOpenError: if it cannot be loaded.
    """
    try:
        whole, info = kind.from_pretrained(
            str(folder), config=copy.deepcopy(config), dtype=size.dtype, use_safetensors=True,
            trust_remote_code=False, output_loading_info=True,
        )  # fmt: skip
        weights = dict(whole.named_parameters(remove_duplicate=False))
        shown = shown_part(whole, wanted.name)
        model: nn.Module = shown.eval().requires_grad_(False).to(wanted.device)
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise CannotOpenError(
            wanted.name, f"memory ran out while loading {gigabytes(size.n_bytes)}. Close other "
            "programs, or give --dtype bfloat16",
        ) from error  # fmt: skip
    except CannotOpenError:
        raise
    except Exception as error:  # the library raises many kinds
        if "mismatch" in str(error):
            why = ("the shapes of its weights are not those that its config.json tells. The two "
                   "are of different networks")  # fmt: skip
        else:
            why = f"transformers could not load it ({in_short(error)})"
        raise CannotOpenError(wanted.name, why) from error
    own = {id(weight) for weight in model.parameters()}
    missing = {name: weights[name] for name in sorted(info["missing_keys"]) if name in weights}
    return model, {name: weight for name, weight in missing.items() if id(weight) in own}


@torch.no_grad()
def without_chance(
    model: nn.Module,
    missing: dict[str, Tensor],
    probe: Tensor,
    load_base: Callable[[], tuple[nn.Module, dict[str, Tensor]]],
    name: str,
) -> nn.Module:
    """The network if its result depends on no missing weight, else without its word head.

    The library fills missing weights with random numbers and goes on. Here they become NaN, which
    spreads to all that depends on them. `load_base` loads the network without a head.

    Raises:
        CannotOpenError: if the result depends on a missing weight without the head, too.
    """
    if not missing or not _depends_on(model, missing, probe):
        return model
    base, missing_in_base = load_base()
    if type(base) is not type(model) and not _depends_on(base, missing_in_base, probe):
        return base
    missing = missing_in_base or missing
    raise CannotOpenError(
        name, f"{len(missing)} of its weights are missing, first {next(iter(missing))}. Without "
        "them it would compute with random numbers",
    )  # fmt: skip


def _depends_on(model: nn.Module, missing: dict[str, Tensor], probe: Tensor) -> bool:
    for weight in missing.values():
        weight.data.fill_(float("nan"))
    try:
        result = result_of(model(input_ids=probe))
    except Exception:  # it ran before there were NaNs in it
        return True
    return not bool(torch.isfinite(result).all())


def tokenizer_of(transformers: Any, folder: Path, name: str, model: Any) -> ExternalTokenizer:
    """The tokenizer in a folder, for that network.

    Raises:
        CannotOpenError: if there is none, or none that fits; see `checked_tokenizer`.
    """
    try:
        fast = transformers.AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # of many kinds, also where a package is missing
        raise CannotOpenError(
            name, f"its tokenizer cannot be loaded ({in_short(error)}). A tokenizer.json in its "
            "folder is what is needed",
        ) from error  # fmt: skip
    return checked_tokenizer(fast, name, model)


def checked_tokenizer(fast: Any, name: str, model: Any) -> ExternalTokenizer:
    """A tokenizer of transformers, wrapped for that network.

    Raises:
        CannotOpenError: if it does not tell which characters a token stands for, or has more
            entries of its own than the network has word vectors.
    """
    if not getattr(fast, "is_fast", False):
        raise CannotOpenError(
            name, "its tokenizer does not tell which characters a token stands for. A fast one is "
            "what is needed: a folder that has a tokenizer.json gives one",
        )  # fmt: skip
    n_rows = _n_words(model, name)
    # Added entries may lie behind the vectors: a text that has one is refused when it comes.
    last = max(fast.backend_tokenizer.get_vocab(with_added_tokens=False).values(), default=-1)
    if last >= n_rows:
        raise CannotOpenError(
            name, f"its tokenizer has {last + 1:,} entries and the network only {n_rows:,} word "
            "vectors. The two are of different networks",
        )  # fmt: skip
    return ExternalTokenizer(fast, n_rows)


def _n_words(model: Any, name: str) -> int:
    """How many word vectors a network has.

    Raises:
        CannotOpenError: if it has none: it reads pictures, sound or characters.
    """
    try:
        weight = getattr(model.get_input_embeddings(), "weight", None)
    except (AttributeError, NotImplementedError):  # the library's, where there is no table
        weight = None
    if not isinstance(weight, Tensor) or weight.dim() != 2:
        raise CannotOpenError(
            name, f"transformers tells of no table of word vectors in a {type(model).__name__}, so "
            "it does not read text alone. Only networks that do are shown",
        )  # fmt: skip
    return len(weight)
