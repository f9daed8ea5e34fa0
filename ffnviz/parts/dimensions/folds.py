"""Fold twice: a line folded k times, one layer's units, and the pieces of the network."""

import numpy as np

from ffnviz.analysis.dimensions.folds import NEEDS, folded, layer_at, one_layer, switches
from ffnviz.analysis.needs import missing
from ffnviz.figures.dimensions import folds as figures
from ffnviz.figures.layout import escaped
from ffnviz.figures.wording import Sentence, number, quoted
from ffnviz.parts.dimensions.warp import chosen_corners
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting

MOST = 8
FOLDS = count_setting("folds", 3, 1, MOST).with_control("folds k", range(1, MOST + 1))
UNITS = count_setting("fold_units", 6, 1, 2**MOST).with_control(
    "units n of one layer", (*range(1, 17), 20, 24, 32, 48, 63, 64, 96, 128, 192, 256)
)
SETTINGS = (FOLDS, UNITS)
X = np.linspace(0, 1, 2**10 + 1)  # every corner of eight folds is one of these


def sheet(run: Run, values: Values) -> Sheet:
    """The zigzag, beside how pieces grow with units and the network's own pieces."""
    k, n = values[FOLDS], values[UNITS]
    return Sheet([row(the_zigzag(run, k, n), [the_growth(run, k, n), in_the_network(run, values)])])


def the_zigzag(run: Run, k: int, n: int) -> Cell:
    """A line folded k times, and one layer of n units."""
    bends, turns = one_layer(k, n)
    inside = bends < 1
    pieces, right = 2**k, min(n, 2**k)
    share = "all of them" if right == pieces else f"{right:,}, and needs {pieces:,} units for all"
    sentence: Sentence = [
        f"{k} fold{'s' * (k > 1)} of 2 ReLU units each make ", number(f"{pieces:,} pieces"),
        f"; one layer of {n:,} unit{'s' * (n > 1)} matches {share}.",
    ]  # fmt: skip
    layer = layer_at(X, bends[inside], turns[inside])
    return chart_cell(
        Head(sentence, "folds", run.card.colour),
        figures.zigzag(X, folded(X, k), layer, bends[inside], f"@{run.card.colour}"),
        "A line folded several times, and one layer of ReLU units that follows it corner by "
        "corner.",
        height=640,
    )


def the_growth(run: Run, k: int, n: int) -> Cell:
    """The number of pieces against the number of units."""
    sentence: Sentence = [
        f"{2 * k} units fold the line into {2**k:,} pieces; in one layer so many make at most ",
        number(f"{2 * k + 1}"), ".",
    ]  # fmt: skip
    figure = figures.growth(2 * k, 2**k, n, n + 1, f"@{run.card.colour}")
    alt = "How the number of pieces grows with the number of units, folded and in one layer."
    return chart_cell(Head(sentence, "folds-pieces", run.card.colour), figure, alt, height=300)


def in_the_network(run: Run, values: Values) -> Cell:
    """Neurons that switch on the way from one token to another, in one block and in two."""
    lacking = missing(run.card, NEEDS)
    if lacking:
        return text_cell("folds-network", lacking[0].value, tone="quiet")
    ends = chosen_corners(run, values)[:2]
    if len(ends) < 2:
        return text_cell("folds-network", "A line needs a sentence of two tokens.", tone="quiet")
    block = max(0, min(run.state.block, len(run.trace.blocks) - 2))
    counts = run.subject.per_sentence(
        ("switches", block, ends), lambda: switches(run.model, run.trace, block, (ends[0], ends[1]))
    )
    curves = (
        (f"FFN of block {block + 1}", "@muted"),
        (f"of blocks {block + 1} and {block + 2}", f"@{run.card.colour}"),
    )
    from_, to = (run.labels[end] for end in ends)
    sentence: Sentence = [
        "On a line from ", quoted(from_), " to ", quoted(to), f" block {block + 1}'s FFN has ",
    ]  # fmt: skip
    first, *more = (f"{1 + int(each[-1]):,} pieces" for each in counts)
    sentence += [f"{first}, and with the next block's ", number(*more)] if more else [number(first)]
    bends = run.card.phi.exact_zeros
    sentence.append("." if bends else f"; {run.card.phi.label} has no kinks: there it bends.")
    return chart_cell(
        Head(sentence, "folds-network", run.card.colour),
        figures.along(
            {name: (count, colour) for (name, colour), count in zip(curves, counts, strict=False)},
            (escaped(from_), escaped(to)),
        ),
        "How many neurons have switched on the way from one token to another.",
        height=300,
    )  # fmt: skip
