"""All blocks at a glance: the share of active neurons on each token in each block."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.sparsity.awake import awake
from ffnviz.models.block_trace import BlockTrace
from ffnviz.models.trace import ForwardPass

NEEDS: tuple[Capability, ...] = ()


def awake_by_block(trace: ForwardPass, threshold: float) -> NDArray[np.float32]:
    """The share of each block's neurons beyond the threshold on each token, (n_blocks, T).

    Stages that are computed for it are not kept.
    """
    shares = []
    for number, block in enumerate(trace.blocks):
        new = isinstance(block, BlockTrace) and block.ffn_stages.held is None
        shares.append(awake(trace, number, threshold).shares)
        if new and isinstance(block, BlockTrace):
            block.ffn_stages.forget()
    return np.array(shares, dtype=np.float32)
