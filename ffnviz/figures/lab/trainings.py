"""Pairs of trainings: by how much one lost more than the other, seed by seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, figure, row_axis

TOO_FAR = 2.5  # times as far as the second furthest: such a row is written, not drawn


@dataclass(frozen=True)
class Compared:
    """One row."""

    name: str  # of what is compared, escaped
    differences: NDArray[np.float64]  # a pair each, (n,)
    interval: tuple[float, float]  # of their mean
    note: str  # at the right end of the row, escaped


def compared(rows: Sequence[Compared], colour: str) -> Figure:
    """A row a comparison: a dot a seed, a diamond for the mean, a line for its interval.

    Args:
        rows: from top to bottom.
        colour: the accent.
    """
    reach = _reach([float(np.abs(row.differences).max()) for row in rows])
    dots, means, lines, notes = [], [], [], []
    for place, row in enumerate(rows):
        mean = float(row.differences.mean())
        beyond = "" if abs(mean) <= reach else "→ " if mean > 0 else "← "
        notes += [_note(row.name, place, 0, "left"), _note(beyond + row.note, place, 1, "right")]
        if beyond:
            continue
        dots += [(difference, place) for difference in row.differences]
        means.append((mean, place))
        low, high = np.clip(row.interval, -reach, reach)
        lines += [(low, place), (high, place), (None, None)]
    return figure(
        [
            {"type": "scatter", "mode": "lines", "name": "99% interval", **_xy(lines),
             "line": {"color": "@text", "width": 2}, "hoverinfo": "none"},
            {"type": "scatter", "mode": "markers", "name": "a seed", **_xy(dots),
             "marker": {"color": f"@{colour}/0.45", "size": 9},
             "hovertemplate": "%{x:+.3f} nats<extra></extra>"},
            {"type": "scatter", "mode": "markers", "name": "mean", **_xy(means),
             "marker": {"color": f"@{colour}", "size": 14, "symbol": "diamond",
                        "line": {"color": "@background", "width": 2}},
             "hovertemplate": "%{x:+.3f} nats on average<extra></extra>"},
        ],
        # Names stand at the left of the axis, means at its right.
        axis("loss against the usual network's, nats", range=[-reach, reach], nticks=4,
             domain=[0.36, 0.84]),
        row_axis(len(rows), showticklabels=False),
        annotations=notes,
        margin={"l": 16, "r": 16, "t": 40, "b": 56},
    )  # fmt: skip


def _reach(furthest: Sequence[float]) -> float:
    """As far as most rows go; one that goes much further would press the others together."""
    ordered = sorted(furthest)
    while len(ordered) > 1 and ordered[-1] > TOO_FAR * ordered[-2]:
        ordered.pop()
    return 1.15 * max(ordered[-1], 1e-3) if ordered else 1.0


def _note(text: str, place: int, x: float, anchor: str) -> dict[str, object]:
    return {
        "text": text, "x": x, "xref": "paper", "xanchor": anchor,
        "y": place, "yanchor": "middle", "showarrow": False, "font": {"size": 16},
    }  # fmt: skip


def _xy(points: Sequence[tuple[float | None, float | None]]) -> dict[str, object]:
    return {"x": np.array([x for x, _ in points], float),
            "y": np.array([y for _, y in points], float)}  # fmt: skip
