"""Whether a block holds a mixture of experts, told by its weights and not by its name."""

from torch import nn
from torch.nn.modules.conv import _ConvNd


def n_experts(block: nn.Module, d_model: int) -> int:
    """How many experts a block chooses among; 0 if it is no mixture.

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
