"""A network that is in memory already, proved like one from a folder."""

import copy
from typing import Any

from torch import nn

from ffnviz.models.external.condition import check_mode, check_numbers, check_weights
from ffnviz.models.external.loading import checked_tokenizer, shown_part
from ffnviz.models.external.memory import Footprint
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import COLOURS, proved_network, slug
from ffnviz.models.external.probe import find_probe
from ffnviz.models.external.refusal import CannotOpenError


def from_module(
    model: nn.Module, tokenizer: Any, label: str = "", *, longest: int | None = None
) -> ExternalNetwork:
    """A network of transformers that is in memory, such as one that is being trained, proved.

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
    check_mode(any(module.training for module in model.modules()), name)
    check_weights(model, name)
    check_numbers(model, name)
