"""What a patch of each block and token does, as a map."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, bare_axis, figure, shortened, signed_colours, some_named
from ffnviz.figures.style import Array

MOST_NAMES = 32  # of tokens and of blocks


def restored_map(labels: Sequence[str], shares: Array, chosen: tuple[int, int]) -> Figure:
    """A row a block, a column a token; a click says block · n_tokens + token.

    Args:
        labels: the tokens, not escaped; one where nothing could be put in stands in parentheses.
        shares: of the way from one answer to the other, (n_blocks, n_tokens); no number where
            nothing could be put in.
        chosen: block and token to mark, from 0.
    """
    n_blocks, n_tokens = shares.shape
    largest = max(float(np.nanmax(np.abs(shares), initial=0)), 0.01)
    blocks = np.arange(0, n_blocks, -(-n_blocks // MOST_NAMES))
    block, token = chosen
    names = [
        name if np.isfinite(column).any() else f"({name})"
        for name, column in zip(map(shortened, labels), shares.T, strict=True)
    ]
    return figure(
        [{
            "type": "heatmap", "name": "way to the second answer", "z": 100 * shares,
            "x": np.arange(n_tokens), "y": np.arange(n_blocks),
            "zmin": -100 * largest, "zmax": 100 * largest, "xgap": 1, "ygap": 1,
            "customdata": np.arange(shares.size).reshape(shares.shape),
            **signed_colours("% of the way"),
            "hovertemplate": "block %{y}, %{x}: %{z:+.1f}% of the way<extra></extra>",
        }],
        bare_axis("token", **some_named(names, MOST_NAMES, 16), tickangle=-60),
        bare_axis("block", tickvals=blocks, ticktext=[str(at + 1) for at in blocks],
                  range=[n_blocks - 0.5, -0.5]),
        shapes=[{"type": "rect", "x0": token - 0.5, "x1": token + 0.5, "y0": block - 0.5,
                 "y1": block + 0.5, "line": {"color": "@text", "width": 2}}],
        margin={"l": 64, "r": 10, "t": 10, "b": 100},
    )  # fmt: skip
