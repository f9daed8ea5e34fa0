"""Why expand: in how many directions the tokens differ, before φ and after."""

from ffnviz.analysis.dimensions.rank import STAGES, Reach, Spectrum, out_of_reach, reach, spectra
from ffnviz.figures.dimensions import rank as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.models.card import Card
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.settings import Values


def sheet(run: Run, _: Values) -> Sheet:
    """The singular values beside the effective ranks."""
    by_card = {traced.card: spectra_of(traced, run.block_of(traced)) for traced in run.both}
    pictures = singular_values(run, by_card[run.card]), effective_ranks(run, by_card)
    return Sheet([row(*pictures, widths=(1.25,))])


def reached_by_first_layer(run: Run) -> Reach:
    """What xW₁ + b₁ reaches in the chosen block, computed once per network."""
    block = run.state.block
    return run.subject.per_network(f"reach of block {block}", lambda: reach(run.model, block))


def spectra_of(traced: TracedModel, block: int) -> dict[str, Spectrum]:
    """The spectra of a network's stages, computed once per sentence and block."""
    return traced.per_sentence(("spectra", block), lambda: spectra(traced.trace, block))


def singular_values(run: Run, stages: dict[str, Spectrum]) -> Cell:
    """The network's spectra, with what φ alone adds."""
    block = run.state.block
    before, after = run.subject.per_sentence(
        ("out of reach", block),
        lambda: out_of_reach(reached_by_first_layer(run), run.trace, block),
    )
    sizes = run.model.sizes
    sentence: Sentence = [
        f"W₁ can reach only {sizes.d_model + 1:,} of {sizes.d_ff:,} directions. Outside them "
        f"lies {before:.1%} of the squared length before φ, and ",
        number(percent(after)), " after it.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "spectra", run.card.colour),
        figures.spectra(
            {stage: stages[stage].singular_values for stage in STAGES}, run.card.colour
        ),
        "Singular values of this sentence's FFN inputs, pre-activations, hidden values, outputs.",
        height=680,
    )


def effective_ranks(run: Run, by_card: dict[Card, dict[str, Spectrum]]) -> Cell:
    """Each network's effective ranks at every stage."""
    before, after = (by_card[run.card][stage].effective_rank for stage in STAGES[1:3])
    verb = "raises" if after > before else "lowers"
    sentence: Sentence = [
        f"On these {len(run.labels)} tokens {run.card.label} {verb} the "
        f"effective rank from {before:.1f} to ", number(f"{after:.1f}"), ".",
    ]  # fmt: skip
    ranks = {
        card: [stages[stage].effective_rank for stage in STAGES] for card, stages in by_card.items()
    }
    return chart_cell(
        Head(sentence, "rank", run.card.colour),
        figures.effective_ranks(ranks, STAGES),
        "The effective rank at the input, before φ, after φ and at the output, of each network.",
        height=680,
    )
