"""The page Journey: one sentence's way through the FFN of one block, on one screen."""

from ffnviz.analysis.sparsity import threshold_for
from ffnviz.parts import sentences
from ffnviz.parts.journey.ffn import FFN, ffn_of_the_token
from ffnviz.parts.journey.neurons import chosen_neuron, every_token_every_neuron, neuron_of
from ffnviz.parts.journey.overview import awake_by_block, overview
from ffnviz.parts.journey.prediction import what_it_says
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import number
from ffnviz.state.actions import ChooseBlock
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

SETTINGS = (FFN,)
FEW_BLOCKS = 4  # of more, one picture shows them all
WIDTHS = (1.45, 2.8)


def sheet(run: Run, values: Values) -> Sheet:
    """The guess, and the token's way through the FFN; below, one neuron and all of them."""
    is_off, neuron = values[FFN] == "off", neuron_of(run)
    guess, way = what_it_says(run, is_off), ffn_of_the_token(run, is_off, neuron)
    one, every = chosen_neuron(run, is_off, neuron), every_token_every_neuron(run, neuron)
    rows = [row(guess, way, widths=WIDTHS), row(one, every, widths=WIDTHS)]
    if run.model.sizes.n_blocks > FEW_BLOCKS:
        rows.insert(1, row(all_blocks(run)))
    return Sheet(rows)


def all_blocks(run: Run) -> Cell:
    """The share of neurons that each token activates in each block; a click chooses the block."""
    threshold = threshold_for(run.card.phi)
    shares = run.subject.per_sentence(
        ("awake by block", threshold), lambda: awake_by_block(run.trace, threshold)
    )
    return chart_cell(
        Head(sentences.of_blocks(shares.mean(axis=1), threshold), "overview", run.card.colour),
        overview(shares, run.labels, run.state.block, run.card.colour),
        "The share of neurons that each token activates, in each block.",
        height=min(520, 130 + 16 * len(shares)),
        on_choose=ChooseBlock,
    )


def timing_line(run: Run) -> Cell:
    """How long the trace took, and how much of that its FFNs."""
    timing = run.subject.timing
    where = {"cpu": "the CPU", "cuda": "the GPU (CUDA)", "mps": "the GPU (Apple MPS)"}
    lines = [
        f"{number(f'{timing.total_ms:.1f} ms')} on {where[run.model.device.type]}, "
        f"{timing.ffn_share:.0%} of it in the FFNs"
    ]
    if run.card.proof:
        about, *equations = run.card.proof
        lines.append(f"{about}. Checked numerically on this network: {' · '.join(equations)}")
    return text_cell("timing-line", *lines, tone="quiet")
