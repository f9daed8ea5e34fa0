"""Tokens in a plane: before the FFN, after it, and in the stream after the block."""

import numpy as np

from ffnviz.analysis.dimensions.projection import Projection, project
from ffnviz.figures.dimensions.plane import planes
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run
from ffnviz.state.settings import Values


def sheet(run: Run, _: Values) -> Sheet:
    """Three panels; a click on a point chooses its token."""
    block = run.trace.blocks[run.state.block]
    panels = [
        (title, project(vectors))
        for title, vectors in (
            ("before the FFN: its input", block.ffn.input),
            ("after the FFN: its output", block.ffn.output),
            ("after the block: the stream", block.output),
        )
    ]
    picture = chart_cell(
        Head(_sentence(run, panels[1][1]), "plane", run.card.colour),
        planes(
            [(title, plane.points, plane.explained) for title, plane in panels],
            run.labels,
            run.token,
            run.card.colour,
        ),
        "The tokens of the sentence as points in the plane at three stages.",
        height=680,
        on_choose=ChooseToken,
    )
    return Sheet([row(picture)])


def _sentence(run: Run, written: Projection) -> Sentence:
    said = quoted(run.labels[run.token])
    if len(run.labels) < 2:
        return [said, " stands alone: a plane needs at least two tokens to show a difference."]
    away = np.linalg.norm(written.points - written.points[run.token], axis=1)
    away[run.token] = np.inf
    return [
        "In what the FFN writes, ", said, " is closest to ",
        quoted(run.labels[int(away.argmin())]), " in this plane, which holds ",
        number(percent(float(written.explained.sum()))), " of the tokens' variance.",
    ]  # fmt: skip
