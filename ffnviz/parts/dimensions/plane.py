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
    written = project(block.ffn.output)
    panels = {
        "before the FFN: its input": project(block.ffn.input),
        "after the FFN: its output": written,
        "after the block": project(block.output),
    }
    points = [(title, plane.points, plane.explained) for title, plane in panels.items()]
    picture = chart_cell(
        Head(_sentence(run, written), "plane", run.card.colour),
        planes(points, run.labels, run.token, run.card.colour),
        "The tokens of the sentence as points in the plane at three stages.",
        height=680,
        on_choose=ChooseToken,
    )
    return Sheet([row(picture)])


def _sentence(run: Run, written: Projection) -> Sentence:
    token = quoted(run.labels[run.token])
    if len(run.labels) < 2:
        return [token, " stands alone: a plane needs at least two tokens to show a difference."]
    distances = np.linalg.norm(written.points - written.points[run.token], axis=1)
    distances[run.token] = np.inf
    return [
        "In what the FFN writes, ", token, " is closest to ",
        quoted(run.labels[int(distances.argmin())]), " (in this plane: ",
        number(percent(float(written.explained.sum()))), " of the variance).",
    ]  # fmt: skip
