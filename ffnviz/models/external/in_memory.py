"""A network that is in memory already, proved like one from a folder."""

import copy
from typing import Any

import torch
from torch import nn

from ffnviz.models.external.compare import TOLERANCE
from ffnviz.models.external.loading import checked_tokenizer, shown_part
from ffnviz.models.external.memory import Footprint, dtype_name
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import COLOURS, proved_network, slug
from ffnviz.models.external.probe import find_probe
from ffnviz.models.external.refusal import CannotOpenError


def from_module(
    model: nn.Module, tokenizer: Any, label: str = "", *, longest: int | None = None
) -> ExternalNetwork:
    """A network of transformers that is in memory, such as one that is being trained, proved.

    Its weights stay where they are: what is seen is the network itself, and the hooks that are put
    on it do nothing unless somebody records. The proof is of the weights as they are now; after
    they changed, prove it again.

    Args:
        model: as transformers makes it, in evaluation mode; of one that has a decoder beside its
            encoder, the encoder is seen.
        tokenizer: a PreTrainedTokenizerFast; it is copied.
        label: what pages and messages call it; empty takes the name of its class.
        longest: the most tokens it is to read; None takes as many as it can.

    Raises:
        CannotOpenError: a sentence in plain words says what was wrong and what to do.

    Examples:
        >>> model = ffnviz.from_module(gpt2, tokenizer, "my GPT-2")
        >>> model.trace("the cat sat").blocks[1].ffn.hidden.shape
        torch.Size([3, 128])
    """
    name = label or type(model).__name__
    _check(model, name)
    seen = shown_part(model, name)
    words = checked_tokenizer(copy.deepcopy(tokenizer), name, seen)
    weight = next(seen.parameters())
    probe, changed = find_probe(seen, words, name, weight.device)
    n = sum(parameter.numel() for parameter in seen.parameters())
    about = f"{name}: {Footprint(n, weight.dtype).in_words}, from memory"
    return proved_network(
        seen, words, probe, changed, name, slug(name), name, COLOURS[0], about, longest
    )


def _check(model: object, name: str) -> None:
    if not isinstance(model, nn.Module) or not hasattr(model, "config"):
        raise CannotOpenError(
            name, "it is no network of transformers. A folder is opened by ffnviz.load"
        )
    if any(module.training for module in model.modules()):
        raise CannotOpenError(
            name, "it is in training mode, in which dropout makes each pass another one. Call "
            "model.eval() first",
        )  # fmt: skip
    kinds = {weight.dtype for weight in model.parameters() if weight.is_floating_point()}
    where = {weight.device for weight in model.parameters()}
    if torch.device("meta") in where or len(where) != 1:
        raise CannotOpenError(
            name, "its weights are not all on one device. Load it without a device map"
        )
    if not kinds or not kinds <= set(TOLERANCE):
        names = ", ".join(sorted(map(dtype_name, kinds))) or "no floating-point weights"
        raise CannotOpenError(
            name, f"its weights are of a kind that the equations are not tested in ({names})"
        )
