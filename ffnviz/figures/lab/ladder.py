"""A difference on a logarithmic scale, between what rounding may make and what the numbers are."""

from collections.abc import Sequence

import numpy as np

from ffnviz.analysis.number_format import short
from ffnviz.figures.layout import Figure, axis, figure, row_axis

LEAST = 1e-18


def ladder(rungs: Sequence[tuple[str, float, str]], what: str) -> Figure:
    """A dot a number, its name beside it; an exact zero stands at the far left and says so.

    Args:
        rungs: name, value and colour of each, from top to bottom.
        what: what the numbers are.
    """
    values = np.array([max(LEAST, value) for _, value, _ in rungs])
    y = np.arange(len(rungs))
    texts = [
        f"  <b>{'exactly 0' if value == 0 else short(value)}</b> {name}" for name, value, _ in rungs
    ]
    right = float(np.log10(values.max())) + 14
    return figure(
        [{
            "type": "scatter", "mode": "markers+text", "name": what, "x": values, "y": y,
            "text": texts, "textposition": "middle right", "textfont": {"size": 17},
            "marker": {"size": 18, "color": [colour for _, _, colour in rungs]},
            "cliponaxis": False, "hoverinfo": "none",
        }],
        axis(f"{what}, logarithmic", type="log", range=[-18.4, max(4.0, right)],
             tickvals=np.array([10.0**k for k in range(-18, 3, 4)]),
             ticktext=["0"] + [f"10<sup>{k}</sup>" for k in range(-14, 3, 4)]),
        row_axis(len(rungs), showticklabels=False),
        margin={"l": 24, "r": 16, "t": 10, "b": 56},
        showlegend=False,
    )  # fmt: skip
