"""How well a name says where a neuron fires."""

import numpy as np

from ffnviz.figures.layout import Figure, axis, escaped, figure
from ffnviz.figures.wording import percent


def scores(precision: float | None, recall: float | None, chance: float, twin: str) -> Figure:
    """Precision, recall and chance as bars; what cannot be said has none.

    Args:
        precision: from 0 to 1; None where nothing was named.
        recall: the same; None where it never fires.
        chance: the precision of naming blindly.
        twin: the accent.
    """
    values = [precision, recall, chance]
    text = ["none named" if precision is None else escaped(percent(precision)),
            "never fires" if recall is None else escaped(percent(recall)),
            escaped(percent(chance))]  # fmt: skip
    return figure(
        [{
            "type": "bar", "name": "score", "x": ["precision", "recall", "precision by chance"],
            "y": np.array([100 * (value or 0.0) for value in values]), "text": text,
            "meta": {"labels": []},
            "textposition": "outside", "textfont": {"size": 22}, "cliponaxis": False,
            "hoverinfo": "none", "marker": {"color": [f"@{twin}", f"@{twin}/0.55", "@muted"]},
        }],
        axis("", showgrid=False),
        axis("%", range=[0, 115], tickvals=[0, 25, 50, 75, 100]),
        margin={"l": 60, "r": 10, "t": 20, "b": 50},
    )  # fmt: skip
