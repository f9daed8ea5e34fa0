"""Tokens in the plane: before the FFN, after it, and in the stream after the block."""

import numpy as np

from ffnviz.analysis.dimensions.projection import project
from ffnviz.figures.dimensions.plane import planes
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run


def render(run: Run, navigator: Navigator) -> None:
    """Three panels; a click on a point chooses its token."""
    block = run.trace.blocks[run.state.block]
    stages = (
        ("before the FFN: its input", block.ffn.input),
        ("after the FFN: its output", block.ffn.output),
        ("after the block: the stream", block.output),
    )
    found = [(title, project(vectors)) for title, vectors in stages]
    chart(
        Head(_sentence(run, found[1][1].points), "plane", run.card.colour),
        planes(
            [(title, each.points, each.explained) for title, each in found],
            run.labels,
            run.token,
            run.card.colour,
        ),
        "The tokens of the sentence as points in the plane at three stages.",
        run.stamp,
        key="plane",
        height=680,
        on_choose=lambda token: navigator.do(ChooseToken(token)),
    )


def _sentence(run: Run, written: np.ndarray) -> Sentence:
    said = quoted(run.labels[run.token])
    if len(run.labels) < 2:
        return [said, " stands alone: a plane needs at least two tokens to show a difference."]
    away = np.linalg.norm(written - written[run.token], axis=1)
    away[run.token] = np.inf
    nearest = int(away.argmin())
    block = run.trace.blocks[run.state.block].ffn
    explained = project(block.output).explained.sum()
    return [
        "Going by what the FFN writes, ", said, " is nearest to ", quoted(run.labels[nearest]),
        " in this plane, which holds ", number(percent(float(explained))),
        " of the tokens' variance.",
    ]  # fmt: skip
