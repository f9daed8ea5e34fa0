"""A whole softmax, sorted, on logarithmic scales, with the cut."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, escaped, figure, line_trace, vertical_line
from ffnviz.figures.style import Array


def distribution(
    softmax: Array, cut: Array, n_kept: int, words: Sequence[str], twin: str
) -> Figure:
    """Every entry of the vocabulary as a point of a falling line; what the cut leaves is filled.

    Args:
        softmax: sorted, the likeliest first, (vocab_size,).
        cut: after the cut, in the same order, (vocab_size,).
        n_kept: how many the cut leaves.
        words: the first entries' names, for the hover.
        twin: the accent.
    """
    ranks = np.arange(1, len(softmax) + 1)
    least = max(float(np.log10(max(softmax.min(), 1e-12))), -9)
    return figure(
        [
            line_trace("softmax", ranks, np.maximum(100 * softmax, 1e-10), "@muted", 3,
                       text=[escaped(word) for word in words],
                       hovertemplate="%{text} %{y:.3g}%, rank %{x}<extra></extra>"),
            line_trace("after the cut", ranks[:n_kept], 100 * cut[:n_kept], f"@{twin}", 5,
                       hovertemplate="%{y:.3g}%, rank %{x}<extra></extra>"),
        ],
        axis("place of the word, the likeliest first", type="log", dtick=1,
             range=[-0.05, float(np.log10(len(ranks))) + 0.05]),
        axis("probability, %", type="log", range=[least + 2 - 0.2, 2.1],
             tickvals=[1e-6, 1e-4, 0.01, 1, 100],
             ticktext=["10⁻⁶", "10⁻⁴", "0.01", "1", "100"]),
        shapes=[vertical_line(n_kept + 0.5, colour=f"@{twin}")],
    )  # fmt: skip
