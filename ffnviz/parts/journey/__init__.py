"""The page Journey: one sentence's way through the FFN of one block, on one screen."""

from ffnviz.parts.journey.ffn import FFN, ffn_of_the_token
from ffnviz.parts.journey.neurons import chosen_neuron, every_token_every_neuron, neuron_of
from ffnviz.parts.journey.overview import all_blocks
from ffnviz.parts.journey.prediction import what_it_says
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import number
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
