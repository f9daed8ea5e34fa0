"""Loading by transformers, with its many errors in plain words and no weight left to chance."""

import copy
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor, nn

from ffnviz.models.external.compare import TOLERANCE
from ffnviz.models.external.memory import Footprint, dtype_name, gigabytes
from ffnviz.models.external.proof import result_of
from ffnviz.models.external.refusal import Refused, in_short
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.external.watch import text_config


def check_mode(in_training: bool) -> None:
    """Check that each pass is like the one before."""
    if in_training:
        raise Refused(
            "it is in training mode, in which dropout makes each pass different. Call "
            "model.eval() first"
        )


def check_weights(model: nn.Module) -> None:
    """Check that all weights are on one device, and of a kind that equations are tested in."""
    kinds = {weight.dtype for weight in model.parameters() if weight.is_floating_point()}
    where = {weight.device for weight in model.parameters()}
    if where == {torch.device("meta")}:
        raise Refused("its weights are on the device meta, where they have no values. Load them")
    if torch.device("meta") in where or len(where) != 1:
        raise Refused("its weights are not all on one device. Load it without a device map")
    if not kinds or not kinds <= set(TOLERANCE):
        names = ", ".join(sorted(map(dtype_name, kinds))) or "no floating-point weights"
        raise Refused(f"the equations are not tested with weights of this kind ({names})")


@torch.no_grad()
def check_numbers(model: nn.Module) -> None:
    """Check that all weights are numbers."""
    for weight_name, weight in model.named_parameters():
        if not torch.isfinite(weight.sum(dtype=torch.float32)) and not weight.isfinite().all():
            raise Refused(
                f"its weight {weight_name} has values that are NaN or infinite. Training that "
                "diverged or a damaged file can cause this: open an earlier checkpoint"
            )


MASKED = ("ForMaskedLM", "ForPreTraining", "WithLMHeadModel")
HEADED = (*MASKED, "ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "DoubleHeadsModel")
WRAPPERS = {"_orig_mod.": "torch.compile", "module.": "DistributedDataParallel"}


class Loaded(NamedTuple):
    """What is shown of a network, as it was loaded."""

    model: nn.Module
    missing: dict[str, Tensor]  # its weights that no file had
    unused: frozenset[str]  # the names of weights that a file had and nothing reads


def library_config(transformers: Any, folder: Path) -> Any:
    """The configuration as the library reads it."""
    try:
        config = transformers.AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # the library checks each type's fields in its own way
        if "does not recognize" in str(error) or isinstance(error, KeyError):
            why = (
                f"transformers {transformers.__version__} does not know this type of network. "
                "A newer version may"
            )
        else:
            why = f"its config.json makes no sense to transformers ({in_short(error)})"
        raise Refused(why) from error
    config.use_cache = False  # each pass reads its whole text
    return config


def kind_of(transformers: Any, config: Any, settings: dict[str, Any]) -> Any:
    """The library's general class that loads it, by the architecture that its file names.

    A file that names none that is known is of a network with a word head, if its type has one.
    """
    architecture = str((settings.get("architectures") or [""])[0])
    T = transformers  # noqa: N806
    if config.is_encoder_decoder or architecture.endswith("EncoderModel"):
        kinds = [
            (T.AutoModelForTextEncoding, T.MODEL_FOR_TEXT_ENCODING_MAPPING),
            (T.AutoModelForSeq2SeqLM, T.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING),
        ]
        return next((kind for kind, known in kinds if type(config) in known), T.AutoModel)
    return headed_kind(transformers, config, architecture) or T.AutoModel


def headed_kind(transformers: Any, config: Any, architecture: str = "") -> Any | None:
    """The general class that loads a type of network with its word head; None if there is none.

    It is the one that has the architecture, or else the likeliest of the type's. None, too, for an
    architecture that is known to have no head.
    """
    T = transformers  # noqa: N806
    kinds = [
        (T.AutoModelForMaskedLM, T.MODEL_FOR_MASKED_LM_MAPPING),
        (T.AutoModelForCausalLM, T.MODEL_FOR_CAUSAL_LM_MAPPING),
        (T.AutoModelForImageTextToText, T.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING),
        (T.AutoModelForMultimodalLM, T.MODEL_FOR_MULTIMODAL_LM_MAPPING),
    ]
    kinds = [(kind, known[type(config)]) for kind, known in kinds if type(config) in known]
    for kind, classes in kinds:
        classes = classes if isinstance(classes, tuple | list) else [classes]
        if architecture in [each.__name__ for each in classes]:
            return kind
    has_head = architecture.endswith(HEADED)
    if hasattr(T, architecture) and not has_head:
        return None
    causal = has_head and not architecture.endswith(MASKED)
    if causal or getattr(config, "is_decoder", False):  # of a type that has both
        kinds.sort(key=lambda each: each[0] is T.AutoModelForMaskedLM)
    return kinds[0][0] if kinds else None


def unread_head(found: Loaded, folder: Path) -> str:
    """The first unused weight in its folder that has a row for each word; empty for none."""
    n_words = getattr(text_config(found.model), "vocab_size", 0)
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(str(file), "pt") as opened:
            for name in sorted(set(opened.keys()).intersection(found.unused)):
                if n_words and opened.get_slice(name).get_shape()[:1] == [n_words]:
                    return str(name)
    return ""


def shown_part(model: Any) -> Any:
    """The network; of one with an encoder and a decoder, the encoder, which reads the text."""
    if not model.config.is_encoder_decoder:
        return model
    encoder = model.get_encoder()
    if not hasattr(encoder, "config"):
        raise Refused(
            "it has an encoder and a decoder, and of such networks the encoder alone is "
            f"shown. In transformers this one's ({type(encoder).__name__}) cannot be run by itself"
        )
    return encoder


def loaded(kind: Any, config: Any, folder: Path, device: torch.device, size: Footprint) -> Loaded:
    """What is shown of the network, ready for inference."""
    try:
        whole, info = kind.from_pretrained(
            str(folder),
            config=copy.deepcopy(config),
            dtype=size.dtype,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
        weights = dict(whole.named_parameters(remove_duplicate=False))
        shown = shown_part(whole)
        model: nn.Module = shown.eval().requires_grad_(False).to(device)
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise Refused(
            f"memory ran out while loading {gigabytes(size.n_bytes)}. Close other "
            "programs, or give --dtype bfloat16"
        ) from error
    except Refused:
        raise
    except Exception as error:  # the library raises many kinds
        if "mismatch" in str(error):
            why = (
                "the shapes of its weights are not those in its config.json. The two belong to "
                "different networks"
            )
        else:
            why = f"transformers could not load it ({in_short(error)})"
        raise Refused(why) from error
    check_numbers(model)
    own = {id(weight) for weight in model.parameters()}
    missing = {name: weights[name] for name in sorted(info["missing_keys"]) if name in weights}
    shown_missing = {name: weight for name, weight in missing.items() if id(weight) in own}
    return Loaded(model, shown_missing, frozenset(info["unexpected_keys"]))


@torch.no_grad()
def without_chance(loaded: Loaded, probe: Tensor, load_base: Callable[[], Loaded]) -> nn.Module:
    """The network if its result depends on no missing weight, else without its word head.

    The library fills missing weights with random numbers and goes on. Here they become NaN, which
    spreads to all that depends on them. `load_base` loads the network without a head.
    """
    model, missing, unused = loaded
    if not missing or not _depends_on(model, missing, probe):
        return model
    base, missing_in_base, _ = load_base()
    if type(base) is not type(model) and not _depends_on(base, missing_in_base, probe):
        return base
    if prefix := _prefix(missing, unused):
        by = f", as {WRAPPERS[prefix]} writes them" if prefix in WRAPPERS else ""
        raise Refused(
            f"the names of its weights begin with “{prefix}”{by}, and transformers looks for "
            f"{next(iter(missing))} and the like. Save the network that is inside the wrapper, or "
            "take that beginning off all names"
        )
    missing = missing_in_base or missing
    raise Refused(
        f"{len(missing)} of its weights are missing, first {next(iter(missing))}. Without "
        "them it would compute with random numbers"
    )


def _prefix(missing: Collection[str], unused: Collection[str]) -> str:
    """What stands before at least half of the missing weights' names in the file; or ""."""
    known = set(missing)
    ends = ((name, at + 1) for name in unused for at, sign in enumerate(name) if sign == ".")
    found = Counter(name[:at] for name, at in ends if name[at:] in known)
    prefix, n = found.most_common(1)[0] if found else ("", 0)
    return prefix if 2 * n >= len(known) else ""


def _depends_on(model: nn.Module, missing: dict[str, Tensor], probe: Tensor) -> bool:
    for weight in missing.values():
        weight.data.fill_(float("nan"))
    try:
        result = result_of(model(input_ids=probe))
    except Exception:  # it ran before there were NaNs in it
        return True
    return not bool(torch.isfinite(result).all())


def tokenizer_of(transformers: Any, folder: Path, model: Any) -> ExternalTokenizer:
    """The tokenizer in a folder, for that network."""
    try:
        fast = transformers.AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # of many kinds, also where a package is missing
        raise Refused(
            f"its tokenizer cannot be loaded ({in_short(error)}). It needs a tokenizer.json "
            "in its folder"
        ) from error
    return checked_tokenizer(fast, model)


def checked_tokenizer(fast: Any, model: Any) -> ExternalTokenizer:
    """A tokenizer of transformers, wrapped for that network."""
    if not getattr(fast, "is_fast", False):
        raise Refused(
            "its tokenizer does not say which characters a token stands for. A “fast” "
            "tokenizer (one with a tokenizer.json) does: put one into its folder"
        )
    try:
        table = getattr(model.get_input_embeddings(), "weight", None)
    except (AttributeError, NotImplementedError):  # the library's, where there is no table
        table = None
    if not isinstance(table, Tensor) or table.dim() != 2:
        raise Refused(
            f"transformers finds no table of word vectors in a {type(model).__name__}, so this "
            "network reads something other than text, or more than text. Only networks that read "
            "text alone are shown"
        )
    n_rows = len(table)
    # Added entries may lie behind the vectors: a text that has one is refused when it comes.
    last = max(fast.backend_tokenizer.get_vocab(with_added_tokens=False).values(), default=-1)
    if last >= n_rows:
        raise Refused(
            f"its tokenizer has {last + 1:,} entries and the network only {n_rows:,} word "
            "vectors. The two are of different networks"
        )
    return ExternalTokenizer(fast, n_rows)
