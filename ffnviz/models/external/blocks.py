"""Where the blocks of a network are."""

from typing import Any

from torch import nn

from ffnviz.models.external.refusal import NotProvedError


def find_blocks(model: nn.Module) -> list[nn.Module]:
    """The modules that the stream runs through, each once.

    The class that transformers itself records as `hidden_states`; where it records none, the list
    of modules that is as long as the configuration says there are blocks.

    Raises:
        NotProvedError: if there is neither.
    """
    kinds: set[type] = set()
    for module in model.modules():
        told: Any = getattr(module, "_can_record_outputs", None) or {}
        entry = told.get("hidden_states")
        for each in entry if isinstance(entry, list | tuple) else [entry]:
            kind = getattr(each, "target_class", each)
            kinds |= {kind} if isinstance(kind, type) else set()
    recorded = [module for module in model.modules() if isinstance(module, tuple(kinds))]
    if recorded:
        return recorded
    depth = getattr(text_config(model), "num_hidden_layers", None)
    if depth == 0:
        raise NotProvedError("E4", "its config.json gives it 0 blocks, so there is no FFN to show")
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == depth:
            return list(module)
    raise NotProvedError("E4", "it has no list of blocks that one stream runs through")


def text_config(model: Any) -> Any:
    """The part of a network's configuration that is about text; all of it if there is no one."""
    try:
        return model.config.get_text_config()
    except ValueError:  # there are several
        return model.config
