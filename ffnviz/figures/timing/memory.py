"""Memory and time against the number of tokens that go through the FFN together."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, figure, line_trace, log_axis, ring
from ffnviz.figures.timing.timing import Times, line_of_times

MEGA = 1e6
MARKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]


def peaks(
    chunks: Sequence[int], measured: Sequence[int], expected: Sequence[int], chunk: int, twin: str
) -> Figure:
    """Bytes at the worst moment, measured and by arithmetic, both axes logarithmic.

    Args:
        chunks: tokens at a time, (k,).
        measured: bytes measured, (k,).
        expected: bytes by arithmetic, (k,).
        chunk: the one to mark.
        twin: the accent.
    """
    x, y = np.array(chunks), np.array(measured) / MEGA
    at = list(chunks).index(chunk)
    return figure(
        [
            line_trace("4 bytes × numbers alive", x, np.array(expected) / MEGA, "@muted", 9,
                       hoverinfo="none"),
            line_trace("measured", x, y, f"@{twin}", 3, dots=9,
                       hovertemplate="%{x:,} tokens at a time: %{y:.2f} MB<extra></extra>"),
            ring(f"{chunk:,}", x[at : at + 1], y[at : at + 1], f"@{twin}"),
        ],
        log_axis("tokens at a time", chunks),
        axis("MB of activations", type="log", tickvals=MARKS, ticktext=MARKS),
    )  # fmt: skip


def times(chunks: Sequence[int], spreads: Sequence[Times], chunk: int, twin: str) -> Figure:
    """Milliseconds for all tokens, with quartiles, against tokens at a time.

    Args:
        chunks: tokens at a time, (k,).
        spreads: median and quartiles, (k,).
        chunk: the one to mark.
        twin: the accent.
    """
    at = list(chunks).index(chunk)
    hover = "%{x:,} tokens at a time: %{y:.1f} ms<extra></extra>"
    return figure(
        [
            line_of_times("all tokens", chunks, spreads, f"@{twin}", hover),
            ring(f"{chunk:,}", np.array([chunk]), np.array([spreads[at][0]]), f"@{twin}"),
        ],
        log_axis("tokens at a time", chunks), axis("ms, median and quartiles", rangemode="tozero"),
        showlegend=False,
    )  # fmt: skip
