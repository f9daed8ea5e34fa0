"""All blocks at a glance: the share of active neurons on each token in each block."""

import numpy as np

from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.models.trace import BlockTrace, ForwardPass
from ffnviz.parts.sentences import awake_means
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, bare_axis, figure, outline, some_named
from ffnviz.pictures.wording import counted, number, percent
from ffnviz.state.actions import ChooseBlock
from ffnviz.state.run import Run


def awake_by_block(trace: ForwardPass, threshold: float) -> Array:
    """The share of each block's neurons beyond the threshold on each token, (n_blocks, T).

    Stages that are computed for it are not kept.
    """
    shares = []
    for at, block in enumerate(trace.blocks):
        new = isinstance(block, BlockTrace) and block.ffn_stages.held is None
        shares.append(awake(trace, at, threshold).shares)
        if new and isinstance(block, BlockTrace):
            block.ffn_stages.forget()
    return np.array(shares, dtype=np.float32)


def all_blocks(run: Run) -> Cell:
    """A row a block, the first at the bottom, as the stream runs up; a click chooses the block."""
    threshold, colour = threshold_for(run.card.phi), run.card.colour
    shares = run.subject.per_sentence(
        ("awake by block", threshold), lambda: awake_by_block(run.trace, threshold)
    )
    n_blocks, n_tokens = shares.shape
    means = shares.mean(axis=1)
    most, least = int(means.argmax()), int(means.argmin())
    sentence = (
        f"Of {counted(n_blocks, 'block')}, block {most + 1} has the most neurons "
        f"{awake_means(threshold)}: {number(percent(float(means[most])))}; block {least + 1} the "
        f"fewest: {percent(float(means[least]))}. Click a row for its block."
    )
    ticks = np.arange(0, n_blocks, max(1, -(-n_blocks // 8)))
    drawn = figure(
        [{
            "type": "heatmap", "name": "share active", "z": 100 * shares,
            "x": np.arange(n_tokens), "y": np.arange(n_blocks) + 1, "zmin": 0,
            "customdata": np.tile(np.arange(n_blocks)[:, None], (1, n_tokens)),
            "colorscale": [[0, "@background"], [1, f"@{colour}"]], "showscale": False,
            "xgap": 1, "ygap": 1, "meta": {"named": "tokens"},
            "hovertemplate": "block %{y}: %{z:.1f}% active<extra></extra>",
        }],
        bare_axis("", **some_named(run.labels, 40, 10), autotickangles=[0, -40, -90]),
        bare_axis("block", tickvals=ticks + 1, range=[0.5, n_blocks + 0.5]),
        shapes=[outline(0, n_tokens - 1, run.state.block + 1, run.state.block + 1)],
        margin={"l": 64, "r": 10, "t": 8, "b": 64},
    )  # fmt: skip
    return chart_cell(
        Head(sentence, "overview", colour),
        drawn,
        "The share of neurons that each token activates, in each block.",
        height=min(520, 130 + 16 * n_blocks),
        on_choose=ChooseBlock,
    )
