"""Memory and time against the number of tokens that go through the FFN together."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, layout
from ffnviz.figures.timing.timing import Times

MEGA = 1e6
MARKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]


def peaks(
    chunks: Sequence[int], found: Sequence[int], expected: Sequence[int], chunk: int, twin: str
) -> Figure:
    """Bytes at the worst moment, measured and by arithmetic, both axes logarithmic.

    Args:
        chunks: tokens at a time, (k,).
        found: bytes measured, (k,).
        expected: bytes by arithmetic, (k,).
        chunk: the one to mark.
        twin: the accent.
    """
    x, y = np.array(chunks), np.array(found) / MEGA
    at = list(chunks).index(chunk)
    return {
        "data": [
            {"type": "scatter", "mode": "lines", "name": "4 bytes × numbers alive", "x": x,
             "y": np.array(expected) / MEGA, "hoverinfo": "none",
             "line": {"color": "@muted", "width": 9}},
            {"type": "scatter", "mode": "lines+markers", "name": "measured", "x": x, "y": y,
             "hovertemplate": "%{x:,} tokens at a time: %{y:.2f} MB<extra></extra>",
             "line": {"color": f"@{twin}", "width": 3},
             "marker": {"color": f"@{twin}", "size": 9}},
            {"type": "scatter", "mode": "markers", "name": f"{chunk:,}", "showlegend": False,
             "x": x[at : at + 1], "y": y[at : at + 1], "hoverinfo": "none",
             "marker": {"color": "@background", "size": 16,
                        "line": {"color": f"@{twin}", "width": 4}}},
        ],
        "layout": layout(
            _tokens(chunks),
            axis("MB of activations", type="log", tickvals=MARKS, ticktext=MARKS),
        ),
    }  # fmt: skip


def times(chunks: Sequence[int], found: Sequence[Times], chunk: int, twin: str) -> Figure:
    """Milliseconds for all tokens, with quartiles, against tokens at a time.

    Args:
        chunks: tokens at a time, (k,).
        found: median and quartiles, (k,).
        chunk: the one to mark.
        twin: the accent.
    """
    x, (median, lower, upper) = (
        np.array(chunks),
        (np.array(part) for part in zip(*found, strict=True)),
    )
    at = list(chunks).index(chunk)
    return {
        "data": [
            {"type": "scatter", "mode": "lines+markers", "name": "all tokens", "x": x,
             "y": median, "line": {"color": f"@{twin}", "width": 3},
             "marker": {"color": f"@{twin}", "size": 9},
             "error_y": {"type": "data", "symmetric": False, "array": upper - median,
                         "arrayminus": median - lower, "color": f"@{twin}", "thickness": 2},
             "hovertemplate": "%{x:,} tokens at a time: %{y:.1f} ms<extra></extra>"},
            {"type": "scatter", "mode": "markers", "name": f"{chunk:,}", "showlegend": False,
             "x": x[at : at + 1], "y": median[at : at + 1], "hoverinfo": "none",
             "marker": {"color": "@background", "size": 16,
                        "line": {"color": f"@{twin}", "width": 4}}},
        ],
        "layout": layout(_tokens(chunks), axis("ms, median and quartiles", rangemode="tozero"),
                         showlegend=False),
    }  # fmt: skip


def _tokens(chunks: Sequence[int]) -> dict[str, object]:
    return axis("tokens at a time", type="log", tickvals=list(chunks),
                ticktext=[f"{chunk:,}" for chunk in chunks])  # fmt: skip
