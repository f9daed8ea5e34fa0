"""Position-wise: change, delete or shuffle tokens, and see which outputs move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.lab.positions import WAYS, Positions, try_positions
from ffnviz.analysis.number_format import short
from ffnviz.parts.experiments import cached_for_block, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, bare_axis, figure, panel_title, some_named
from ffnviz.pictures.wording import Sentence, number, percent
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting

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


TITLES = {
    "change": "Change each token in turn",
    "delete": "Delete each token in turn",
    "shuffle": "Shuffle all tokens",
}
SENTENCES = {  # what is said before the FFN's number, between it and attention's, and after that
    "change": (
        "Each row is the token that was changed: the FFN changes ", ", attention ", ".",
    ),
    "delete": (
        "Each row is the token that was deleted: the FFN's other outputs move by up to ",
        ", attention's by ", ".",
    ),
    "shuffle": (
        "After the shuffle each token's FFN output is off by up to ",
        ", its attention output by ", ": both follow the tokens.",
    ),
}  # fmt: skip
WAY = choice_setting("way", {way: TITLES[way] for way in WAYS}).with_control("What is done")
SETTINGS = (WAY,)


def sheet(run: Run, values: Values) -> Sheet:
    """The two maps over the verdicts."""
    way = values[WAY]
    moved = cached_for_block(run, ("positions", way), lambda subject: try_positions(subject, way))
    verdicts = verdicts_of(run, "lab-positions", moved.findings)
    return Sheet([row(two_maps(run, moved, way)), row(verdicts)])


def two_maps(run: Run, positions: Positions, way: str) -> Cell:
    """The FFN's map beside attention's, which only our own networks have."""
    labels = run.labels[: positions.ffn.shape[1]]
    rows = ["moved"] if way == "shuffle" else labels
    shown = [Map("at the FFN's input", positions.ffn, f"@{run.card.colour}", rows, labels)]
    if positions.attention is not None:
        shown.append(
            Map("at the attention's input", positions.attention, "@positive_mid", rows, labels)
        )
    return chart_cell(
        Head(_sentence(positions, way), "lab-maps", run.card.colour),
        maps(shown, len(shown), "of its norm", ("changed", "seen at")),
        "How far each token's output moves.",
        key="lab-positions",
        height=620 if way != "shuffle" else 300,
    )


def _sentence(positions: Positions, way: str) -> Sentence:
    begin, between, end = SENTENCES[way]
    amount, unit = (_others, " outputs of other tokens") if way == "change" else (_most, "")
    sentence: Sentence = [begin, number(f"{amount(positions.ffn)}{unit}")]
    if positions.attention is None:
        return [*sentence, "."]
    return [*sentence, f"{between}{amount(positions.attention)}{end}"]


def _others(moved: NDArray[np.float64]) -> str:
    """How many outputs of other tokens than the changed one move."""
    return str((moved > 0).sum() - (moved.diagonal() > 0).sum())


def _most(values: NDArray[np.float64]) -> str:
    largest = float(values[values == values].max(initial=0))
    if largest == 0:
        return "exactly 0"
    return percent(largest) if largest > 1e-4 else f"{short(largest, 1)} of its norm"
