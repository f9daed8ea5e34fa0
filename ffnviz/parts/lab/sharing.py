"""Parameter sharing: over positions, not over blocks."""

import numpy as np

from ffnviz.analysis.lab.positions import Sharing, try_sharing
from ffnviz.parts.experiments import experiment_subject, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.wording import Sentence, number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values


def sheet(run: Run, _: Values) -> Sheet:
    """One word in several contexts and two blocks' weights, over the verdicts."""
    shared = try_sharing(experiment_subject(run))
    pictures = row(one_word(run, shared), *other_block(run, shared))
    return Sheet([pictures, row(verdicts_of(run, "lab-sharing", shared.findings))])


def one_word(run: Run, sharing: Sharing) -> Cell:
    """How far apart the same word's inputs and outputs are."""
    word = run.labels[run.token]
    names = [f"at token {place + 1}" for place in sharing.places[1:]]
    where = "at its other places"
    if sharing.alone:
        names, where = ["alone"], "in a sentence of its own"
    sentence: Sentence = [
        quoted(word), f" at token {run.token + 1} and {where}: its FFN output differs by ",
        number(percent(max(sharing.outputs))),
        f" of its norm, its input by {percent(max(sharing.inputs))}.",
    ]  # fmt: skip
    panels = [
        Bars("FFN input", names, np.array(sharing.inputs), "muted"),
        Bars("FFN output", names, np.array(sharing.outputs), run.card.colour),
    ]
    return bars_cell(
        Head(sentence, "lab-word", run.card.colour),
        panels,
        alt="How far the same word's inputs and outputs lie apart in its contexts.",
        of="distance from the chosen one / norm",
    )


def other_block(run: Run, sharing: Sharing) -> list[Cell]:
    """How different two blocks' weights are; nothing if there is only one block."""
    if sharing.other is None:
        return []
    mine, other = run.state.block + 1, sharing.other + 1
    sentence: Sentence = [
        f"Blocks {mine} and {other} have weights of their own: W₁'s cosine is ",
        number(f"{sharing.cosines[0]:.2f}"),
        f", its distance {percent(sharing.blocks[0])} of its norm (two random matrices: 141%).",
    ]  # fmt: skip
    panels = [
        Bars("distance / norm", sharing.matrices, np.array(sharing.blocks), run.card.colour),
        Bars("cosine", sharing.matrices, np.array(sharing.cosines), "muted"),
    ]
    alt = "How far two blocks' weights lie apart, and their cosines."
    return [bars_cell(Head(sentence, "lab-blocks", run.card.colour), panels, alt=alt, of="")]
