"""The stream read early as a table of words, and a logit taken apart."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, escaped, layout, shortened
from ffnviz.figures.style import Array
from ffnviz.figures.wording import percent

TWO_LINES = 8  # rows that have room for two lines each


def early_words(
    stages: Sequence[str], words: Sequence[Sequence[str]], probabilities: Array, twin: str
) -> Figure:
    """A row a stage, the likeliest words from left to right, darker the likelier.

    Args:
        stages: from the embedding on.
        words: at each stage, the likeliest first, not escaped.
        probabilities: of these, (n_stages, k), from 0 to 1.
        twin: the accent.
    """
    apart = "<br>" if len(stages) <= TWO_LINES else "  "
    text = [
        [f"{escaped(shortened(word))}{apart}<b>{escaped(percent(float(p)))}</b>"
         for word, p in zip(row, ps, strict=True)]
        for row, ps in zip(words, probabilities, strict=True)
    ]  # fmt: skip
    return {
        "data": [{
            "type": "heatmap", "name": "likeliest words", "z": 100 * probabilities, "text": text,
            "x": np.arange(1, probabilities.shape[1] + 1), "y": list(stages),
            "meta": {"labels": [list(row) for row in words], "named": "stage"},
            "texttemplate": "%{text}", "textfont": {"size": 18, "color": "@text"},
            "showscale": False, "hoverinfo": "none", "xgap": 3, "ygap": 3, "zmin": 0, "zmax": 100,
            # Never so dark that the words on it could not be read.
                "colorscale": [[0, f"@{twin}/0"], [0.1, f"@{twin}/0.25"], [1, f"@{twin}/0.55"]],
        }],
        "layout": layout(
            axis("place among the likeliest", dtick=1, showgrid=False),
            axis("", autorange="reversed", showgrid=False),
            margin={"l": 116, "r": 10, "t": 10, "b": 50},
        ),
    }  # fmt: skip


def followed(
    stages: Sequence[str], probabilities: Array, ranks: Sequence[int], twin: str
) -> Figure:
    """One word's probability from stage to stage, with its rank."""
    return {
        "data": [{
            "type": "bar", "orientation": "h", "name": "probability", "x": 100 * probabilities,
            "y": list(stages), "hoverinfo": "none", "marker": {"color": f"@{twin}"},
            "text": [f"<b>{escaped(percent(float(p)))}</b> rank {rank:,}"
                     for p, rank in zip(probabilities, ranks, strict=True)],
            "meta": {"labels": [f"rank {rank}" for rank in ranks], "named": "stage"},
            "textposition": "outside", "textfont": {"size": 18}, "cliponaxis": False,
        }],
        "layout": layout(
            axis("probability, %", range=[0, max(1.9 * 100 * float(probabilities.max()), 0.1)],
                 showgrid=False, zeroline=False),
            axis("", autorange="reversed", showgrid=False),
            margin={"l": 116, "r": 10, "t": 10, "b": 50},
        ),
    }  # fmt: skip


def waterfall(
    parts: Sequence[str],
    added: Array,
    total: float,
    twin: str,
    name: str = "logit",
    names_are: str = "",
) -> Figure:
    """What each part adds to a number, one on top of the other, and their sum.

    Args:
        parts: their names; broken after "'s ".
        added: by each.
        total: their sum.
        twin: the accent.
        name: what the number is.
        names_are: what the parts' names are, under the axis.
    """
    values = np.append(added, total)
    ends = np.append(added.cumsum(), total)
    reach = [min(0.0, float(ends.min())), max(0.0, float(ends.max()))]
    room = 0.12 * max(reach[1] - reach[0], 1e-6)
    return {
        "data": [{
            "type": "waterfall", "name": f"added to the {name}",
            "x": [*parts, name], "y": values, "hoverinfo": "none",
            "measure": ["relative"] * len(parts) + ["total"],
            "text": [_signed(value) for value in added]
                    + [f"<b>{total:.2f}</b>".replace("-", "−")],
            "textposition": "outside", "textfont": {"size": 18}, "cliponaxis": False,
            "increasing": {"marker": {"color": f"@{twin}"}},
            "decreasing": {"marker": {"color": "@muted"}},
            "totals": {"marker": {"color": "@text"}},
            "connector": {"line": {"color": "@line", "width": 1}},
        }],
        "layout": layout(
            # Names may be numbers: without its type given, the axis would count with them.
            axis(names_are, type="category", tickvals=list(range(len(parts) + 1)),
                 ticktext=[*map(_broken, parts), name]),
            axis(name, range=[reach[0] - room, reach[1] + room]),
            showlegend=False,
            margin={"l": 70, "r": 20, "t": 12, "b": 84},
        ),
    }  # fmt: skip


def _broken(part: str) -> str:
    return part.replace("'s ", "'s<br>")


def _signed(value: float) -> str:
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")
