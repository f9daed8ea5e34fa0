"""All blocks at a glance: the share of active neurons on each token in each block."""

from collections.abc import Sequence

import numpy as np

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.sparsity import awake
from ffnviz.models.trace import BlockTrace, ForwardPass
from ffnviz.pictures.plot import Array, Figure, bare_axis, figure, some_named


def overview(shares: Array, labels: Sequence[str], block: int, colour: str) -> Figure:
    """Shares awake, (n_blocks, T), a row a block, the first at the bottom: the stream runs up."""
    n_blocks, n_tokens = shares.shape
    ticks = np.arange(0, n_blocks, max(1, -(-n_blocks // 8)))
    return figure(
        [{
            "type": "heatmap", "name": "share active", "z": 100 * shares,
            "x": np.arange(n_tokens), "y": np.arange(n_blocks) + 1, "zmin": 0,
            "customdata": np.tile(np.arange(n_blocks)[:, None], (1, n_tokens)),
            "colorscale": [[0, "@background"], [1, f"@{colour}"]], "showscale": False,
            "xgap": 1, "ygap": 1, "meta": {"named": "tokens"},
            "hovertemplate": "block %{y}: %{z:.1f}% active<extra></extra>",
        }],
        bare_axis("", **some_named(labels, 40, 10), autotickangles=[0, -40, -90]),
        bare_axis("block", tickvals=ticks + 1, range=[0.5, n_blocks + 0.5]),
        shapes=[{"type": "rect", "x0": -0.5, "x1": n_tokens - 0.5, "y0": block + 0.5,
                 "y1": block + 1.5, "line": {"color": "@text", "width": 2}}],
        margin={"l": 64, "r": 10, "t": 8, "b": 64},
    )  # fmt: skip


NEEDS: tuple[Capability, ...] = ()


def awake_by_block(trace: ForwardPass, threshold: float) -> Array:
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
