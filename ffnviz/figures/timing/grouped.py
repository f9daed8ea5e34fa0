"""What grouping leaves of an FFN, and the time it takes, against the number of groups."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, band, figure, line_trace, log_axis
from ffnviz.figures.style import Array
from ffnviz.figures.timing.timing import Times, line_of_times


def left(
    groups: Sequence[int], weights: Array, heard: Array, shuffled: Array, errors: Array,
    at: int, twin: str,
) -> Figure:  # fmt: skip
    """Shares of the whole FFN's, in %, against the number of groups.

    Args:
        groups: how many, (k,).
        weights: share of the weights, (k,).
        heard: share of the input channels that an output channel hears, (k,).
        shuffled: the same with a shuffle in between, (k,).
        errors: how far the output is off, as a share of its length, (k,).
        at: the place to mark.
        twin: the accent.
    """
    lines = (
        ("output off by", errors, f"@{twin}", "solid", 4),
        ("input channels seen", heard, "@positive_mid", "solid", 3),
        ("seen with a shuffle", shuffled, "@positive_mid", "dot", 3),
        ("weights", weights, "@muted", "dash", 2.5),
    )
    return figure(
        [
            line_trace(name, np.array(groups), 100 * values, colour, width, dash, dots=8,
                       hovertemplate="%{x} groups: %{y:.3g}%<extra>%{fullData.name}</extra>")
            for name, values, colour, dash, width in lines
        ],
        log_axis("groups", groups),
        axis("% of the whole FFN's", range=[-4, max(108, 108 * float(errors.max()))]),
        shapes=[_mark(groups, at)],
        margin={"l": 70, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip


def times(groups: Sequence[int], spreads: Sequence[Times], at: int, twin: str) -> Figure:
    """Milliseconds with quartiles against the number of groups."""
    hover = "%{x} groups: %{y:.3f} ms<extra></extra>"
    return figure(
        [line_of_times("FFN in groups", groups, spreads, f"@{twin}", hover)],
        log_axis("groups", groups), axis("ms, median and quartiles", rangemode="tozero"),
        shapes=[_mark(groups, at)],
    )  # fmt: skip


def _mark(groups: Sequence[int], at: int) -> dict[str, object]:
    """A light band around one number of groups, which stand a factor of 2 apart."""
    return band(groups[at] / 1.3, groups[at] * 1.3)
