"""Maps of who changes whom: a square a pair of tokens, what is exactly zero left blank."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ffnviz.figures.layout import Figure, bare_axis, figure, panel_title, some_named
from ffnviz.figures.style import Array

MANY = 3  # maps in a row leave room for few words
FAINTEST = "0.14"  # of what is not zero, however little it is
LEAST = 1e-3  # the darkest colour: mere rounding stays faint


@dataclass(frozen=True)
class Map:
    """One map."""

    title: str  # said above it; may hold <br>
    # at least 0, (rows, columns); no number where there is nothing to say
    values: Array
    colour: str  # of the largest, as a figure names it
    # rows, columns: names, not escaped; none if they would not fit
    rows: Sequence[str]
    columns: Sequence[str]


def maps(shown: Sequence[Map], across: int, what: str, down: tuple[str, str]) -> Figure:
    """Maps in rows of so many.

    Args:
        shown: from left to right, row after row.
        across: how many stand side by side.
        what: what a value is, for the hover.
        down: what the rows and the columns are.
    """
    n_rows = -(-len(shown) // across)
    gap_x, gap_y = 0.24 / across, 0.36 / n_rows if n_rows > 1 else 0.0
    width, height = (1 - gap_x * (across - 1)) / across, (1 - gap_y * (n_rows - 1)) / n_rows
    traces, axes, titles = [], {}, []
    for place, each in enumerate(shown):
        row, column = divmod(place, across)
        left, top = column * (width + gap_x), 1 - row * (height + gap_y)
        number = str(place + 1) if place else ""
        largest = max(LEAST, float(np.nanmax(each.values, initial=0)))
        traces.append({
            "type": "heatmap", "name": each.title.replace("<br>", " "),
            # The root shows what is small; the hover has the value itself.
            "z": np.sqrt(np.maximum(each.values, 0) / largest), "customdata": each.values,
            "meta": {"numbers": "customdata"},
            "zmin": 0, "zmax": 1, "xgap": 1, "ygap": 1, "showscale": False,
            "colorscale": [[0, "@background"], [1e-9, f"{each.colour}/{FAINTEST}"],
                           [1, each.colour]],
            "xaxis": f"x{number}", "yaxis": f"y{number}",
            "hovertemplate": f"{down[0]} %{{y}}, {down[1]} %{{x}}: %{{customdata:.3g}} {what}"
                             "<extra></extra>",
        })  # fmt: skip
        # Names of rows only where there is room: at the left. A narrow page may have other lefts.
        axes[f"xaxis{number}"] = _axis(each.columns, anchor=f"y{number}",
                                       domain=[left, left + width])  # fmt: skip
        axes[f"yaxis{number}"] = _axis(
            each.rows, anchor=f"x{number}", domain=[max(0.0, top - height), top],
            range=[len(each.values) - 0.5, -0.5],
            showticklabels=column == 0 and bool(each.rows),
        )  # fmt: skip
        scale = f"<br>colour: 0 to {largest:.2g}" if across < MANY else ""
        titles.append(panel_title(each.title + scale, left, top + 0.004))
    return figure(
        traces,
        axes.pop("xaxis"), axes.pop("yaxis"), **axes, annotations=titles,
        meta={"panels": len(shown), "rows": n_rows}, showlegend=False,
        margin={"l": 96, "r": 10, "t": 56, "b": 76 if shown[0].columns else 16},
    )  # fmt: skip


def _axis(names: Sequence[str], **more: object) -> dict[str, object]:
    more = {"tickfont": {"size": 16}, "showticklabels": bool(names), **more}
    return bare_axis("", **some_named(names, 16, 9), **more)
