"""Where the blocks of a network are, and whether one is a mixture of experts."""

from typing import Any

from torch import nn
from torch.nn.modules.conv import _ConvNd

from ffnviz.models.external.refusal import NotProvedError


def find_blocks(model: nn.Module) -> list[nn.Module]:
    """The modules that the stream runs through, each once.

    They are of the class that transformers itself records as `hidden_states`; where it records
    none, the list of modules that is as long as the configuration says there are blocks.

    Raises:
        NotProvedError: if there is neither.
    """
    kinds: set[type] = set()
    for module in model.modules():
        outputs: Any = getattr(module, "_can_record_outputs", None) or {}
        entry = outputs.get("hidden_states")
        for each in entry if isinstance(entry, list | tuple) else [entry]:
            kind = getattr(each, "target_class", each)
            if isinstance(kind, type):
                kinds.add(kind)
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
    """The part of a network's configuration that is about text, or all of it."""
    try:
        return model.config.get_text_config()
    except ValueError:  # there are several
        return model.config


def n_experts(block: nn.Module, d_model: int) -> int:
    """How many experts a block chooses among, seen from its weights; 0 if it is no mixture.

    A router scores n experts by a matrix (n, d_model) (Shazeer et al. 2017, section 2.1). They are
    n modules of one class, or their matrices are stacked to (n, …, …).
    """
    scored, stacked = set[int](), set[int]()
    for module in block.modules():
        children = list(module.children())
        if isinstance(module, nn.ModuleList | nn.ModuleDict) and len({*map(type, children)}) == 1:
            stacked.add(len(children))
        if isinstance(module, _ConvNd):
            continue
        for weight in module.parameters(recurse=False):
            if weight.dim() == 2 and weight.shape[1] == d_model:
                scored.add(len(weight))
            elif weight.dim() == 3:
                stacked.add(len(weight))
    return max((n for n in scored & stacked if n > 1), default=0)
