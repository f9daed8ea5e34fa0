"""Position-wise: change, delete or shuffle tokens, and see which outputs move."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.lab.positions import WAYS, Positions, try_positions
from ffnviz.analysis.number_format import short
from ffnviz.figures.lab.maps import Map, maps
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.experiments import cached_for_block, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting

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
