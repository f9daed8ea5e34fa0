"""The distribution of a neuron's values, the tokens it fires on, and its co-active neurons."""

import numpy as np

from ffnviz.analysis.neurons.gathering import LABELS
from ffnviz.analysis.neurons.histogram import edges
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import sheet_of_index
from ffnviz.parts.sheet import Row, Sheet, row
from ffnviz.pictures import neuron_chart as figures
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.wording import Sentence, neuron_name, number, percent, signed
from ffnviz.state.actions import ChooseNeuron
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

QUANTILES = (("half", 0.5), ("90%", 0.9), ("99%", 0.99))
OF_BOTH_SIDES = (("1%", 0.01), ("half", 0.5), ("99%", 0.99))


def sheet(run: Run, _: Values) -> Sheet:
    """The histogram beside the kinds of tokens and the neurons that fire with it."""
    neuron = neuron_shown(run)

    def rows(index: NeuronIndex) -> list[Row]:
        right = [on_which_tokens(run, index, neuron), fires_with(run, index, neuron)]
        return [row(histogram(run, index, neuron), right, widths=(1.3, 1))]

    return sheet_of_index(run, rows)


def histogram(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The histogram of its values, with quantiles."""
    block = index.by_number[run.state.block]
    shares = OF_BOTH_SIDES if run.card.signed else QUANTILES
    least, most = float(block.least[neuron]), float(block.most[neuron])
    # A quantile is right to within its bin, and so may lie beyond the last value.
    ends_at = (least if least < 0 else -np.inf, most if most > 0 else np.inf)
    marks = [
        (name, float(np.clip(block.quantile(neuron, share), *ends_at))) for name, share in shares
    ]
    tokens, (_, first), (_, last) = f"{index.n_tokens:,} tokens", marks[0], marks[-1]
    sentence: Sentence = (
        [f"On 98% of {tokens} its value is between {signed(first)} and "]
        if run.card.signed else [f"On 99% of {tokens} its value is at most "]
    )  # fmt: skip
    sentence += [
        number(signed(last)), f"; on average it is {signed(block.mean[neuron])}"
        f" ± {float(block.deviation[neuron]):.2f}",
    ]  # fmt: skip
    ends = [f"at least {signed(least)}"] * (least < 0) + [f"at most {signed(most)}"] * (most > 0)
    if not ends and (index.both_sides or not run.card.signed):
        ends = ["and it never fires"]
    sentence.append(f", {' and '.join(ends)}." if ends else ".")
    return chart_cell(
        Head(sentence, "spread", run.card.colour),
        figures.histogram_figure(edges(), block.histogram[neuron], marks, f"@{run.card.colour}"),
        "How the neuron's values on all tokens are spread.",
        key="values-of-neuron",
        height=635,
    )


def on_which_tokens(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The share of each kind of token that activates it."""
    fired = index.by_number[run.state.block].by_class[:, neuron]
    shares = fired / np.maximum(index.of_class, 1)
    most = int(shares.argmax())
    sentence: Sentence = [
        "It fires most often on ", number(LABELS[most]), f": on "
        f"{percent(float(shares[most]))} of {index.of_class[most]:,}.",
    ] if shares[most] else ["It fires on no kind of token."]  # fmt: skip
    return bars_cell(
        Head(sentence, "kinds", run.card.colour),
        [Bars("", LABELS, 100 * shares, run.card.colour)],
        key="kinds-of-neuron",
        alt="The share of each kind of token that activates the neuron.",
        of="% of tokens of that kind",
    )


def fires_with(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The neurons of the block that fire on the same tokens."""
    block = index.by_number[run.state.block]
    significant = block.partners[:, neuron] >= 0
    partners = block.partners[significant, neuron]
    cosines = block.alike[significant, neuron].astype(np.float64)
    names = [neuron_name(run.state.block, partner) for partner in partners]
    sentence: Sentence = ["No neuron of this block co-activates significantly with it."]
    if names:
        sentence = [
            "Neuron ", number(names[0]), " co-activates most with it: their cosine is "
            f"{float(block.alike[0, neuron]):.2f}.",
        ]  # fmt: skip
    bars = Bars("", [f"neuron {name}" for name in names], cosines, run.card.colour, partners)
    return bars_cell(
        Head(sentence, "partners", run.card.colour),
        [bars],
        key="partners-of-neuron",
        alt="The neurons of the block that fire on the same tokens.",
        of="cosine of co-activation, ± 0.04",
        on_choose=lambda other: ChooseNeuron(run.neuron(other)),
    )
