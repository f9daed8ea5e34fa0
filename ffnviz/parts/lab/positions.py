"""Position-wise: change, delete or shuffle tokens, and see who notices."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.lab.positions import WAYS, Positions, try_positions
from ffnviz.analysis.number_format import short
from ffnviz.figures.lab.maps import Map, maps
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.experiments import experiment_subject, verdicts_of
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
WAY = choice_setting("way", {way: TITLES[way] for way in WAYS}).with_control("What is done")
SETTINGS = (WAY,)


def sheet(run: Run, values: Values) -> Sheet:
    """The two maps over the verdicts."""
    way = values[WAY]
    moved = try_positions(experiment_subject(run), way)
    verdicts = verdicts_of(run, "lab-positions", moved.findings)
    return Sheet([row(two_maps(run, moved, way)), row(verdicts)])


def two_maps(run: Run, positions: Positions, way: str) -> Cell:
    """The FFN's map beside the attention's; of a network that is not ours, the FFN's."""
    labels = run.labels[: positions.ffn.shape[1]]
    rows = ["moved"] if way == "shuffle" else labels
    shown = [
        Map("at the FFN's input", positions.ffn, f"@{run.card.colour}", rows, labels),
    ]
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
    begin = {
        "change": "Each row is the token that was changed: the FFN changes ",
        "delete": "Each row is the token that was deleted: the FFN's other outputs move by up to ",
        "shuffle": "After the shuffle each token's FFN output is off by up to ",
    }[way]
    ffn, attention = positions.ffn, positions.attention
    if way == "change":
        sentence: Sentence = [begin, number(f"{_others(ffn)} outputs of other tokens")]
        also = "" if attention is None else str(_others(attention))
        between, end = ", attention ", "."
    else:
        sentence = [begin, number(_most(ffn))]
        also = "" if attention is None else _most(attention)
        between = ", attention's by " if way == "delete" else ", its attention output by "
        end = "." if way == "delete" else ": both follow the tokens."
    return [*sentence, between, also, end] if also else [*sentence, "."]


def _others(moved: NDArray[np.float64]) -> int:
    return int((moved > 0).sum() - (moved.diagonal() > 0).sum())


def _most(values: NDArray[np.float64]) -> str:
    largest = float(values[values == values].max(initial=0))
    if largest == 0:
        return "exactly 0"
    return percent(largest) if largest > 1e-4 else f"{short(largest, 1)} of its norm"
