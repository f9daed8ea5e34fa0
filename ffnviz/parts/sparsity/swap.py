"""Swap φ without training again: each network's weights with the other's activation."""

from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import predict
from ffnviz.analysis.sparsity.swap import swapped_pass, swapped_prediction
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.models.card import Card
from ffnviz.parts.guess import guess_cell
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.settings import Values


def sheet(run: Run, values: Values) -> Sheet:  # noqa: ARG001
    """Both networks as they are, and with φ swapped."""
    pairs = zip(run.both, run.both[::-1], strict=True)
    return Sheet([row(*(one_network(run, traced, other.card) for traced, other in pairs))])


def one_network(run: Run, traced: TracedModel, other_card: Card) -> Cell:
    """One network's weights with its own φ and with the other's."""
    token, block = run.token, run.state.block
    own, other = traced.card.label, other_card.phi.label
    usual = predict(traced.network, traced.trace, token)
    network, phi = ours(traced.network), other_card.phi.name
    passed = traced.per_sentence(("swapped", phi), lambda: swapped_pass(network, traced.trace, phi))
    swapped = swapped_prediction(network, traced.trace, token, passed)
    new = swapped.prediction
    above = percent(float((traced.trace.blocks[block].ffn.hidden > 0).float().mean()))
    above_swapped = percent(swapped.above_zero[block])
    sentence: Sentence = [
        f"With {other}, {own}'s weights say ",
        number(f"{new.words[0]} ({percent(float(new.probabilities[0]))})"), " at ",
        quoted(run.labels[run.token]),
        f" instead of {usual.words[0]} ({percent(float(usual.probabilities[0]))}): the two "
        f"predictions are {short(swapped.divergence)} nats apart.",
    ]  # fmt: skip
    with_own = f"{own}'s weights with {traced.card.phi.label}\n{above} of block {block + 1}"
    guesses = [
        (f"{with_own} above zero", usual, traced.card.colour),
        (f"{own}'s weights with {other}\n{above_swapped} above zero", new, other_card.colour),
    ]
    alt = f"The ten likeliest words of {own}'s weights with {own} and with {other}."
    return guess_cell(run, sentence, "swap", guesses, alt, f"swap-{traced.card.id}", traced)
