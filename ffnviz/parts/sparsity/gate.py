"""GELU as a stochastic gate: each neuron lets its input through with probability Φ(x)."""

from math import log2

from ffnviz.analysis.prediction import predict_with_ffn_output
from ffnviz.analysis.sparsity.gate import DRAWS, GatedToken, gate, gated_token
from ffnviz.figures.sparsity import gate as figures
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Button, Sheet, row, set_to
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run, TracedModel, token_labels
from ffnviz.state.settings import Values, count_setting

SEEDS = 999
N_DRAWS = count_setting("gate_draws", 4, DRAWS[0], DRAWS[-1]).with_control(
    "draws in the mean", DRAWS, "{:,}".format
)
SEED = count_setting("gate_seed", 0, 0, SEEDS)
SETTINGS = (N_DRAWS, SEED)


def sheet(run: Run, values: Values) -> Sheet:
    """The gate on a line, the FFN with such gates, and what the network then says."""
    place = round(log2(values[N_DRAWS]))  # all draws are powers of two
    seed, traced = values[SEED], with_gelu(run)
    token, block = int(run.tokens_of(traced)[run.token]), run.block_of(traced)
    gated = traced.per_sentence(
        ("gates", block, token, seed),
        lambda: gated_token(traced.network, traced.trace, block, token, seed),
    )
    ffn = [closing_in(traced, gated, token, place)]
    if traced.card.has_word_head:
        ffn.append(what_is_said(run, traced, gated, token, place))
    again = Button("Draw again", set_to(SEED, (seed + 1) % (SEEDS + 1)))
    rows = [row(on_a_line(DRAWS[place], seed), ffn, widths=(1.1, 1))]
    return Sheet(rows, [N_DRAWS, again])


def with_gelu(run: Run) -> TracedModel:
    """The network with GELU, if there is one: its weights were trained for these gates' mean."""
    return next(
        (traced for traced in (run.subject, *run.both) if traced.card.phi.name.startswith("gelu")),
        run.subject,
    )


def _draws(n: int) -> str:
    return f"{n:,} draw{'s' * (n > 1)}"


def on_a_line(n: int, seed: int) -> Cell:
    """The gate over inputs from −3.5 to 3.5."""
    line = gate(n, seed)
    within = float((abs(line.mean - line.gelu) <= 2 * line.error + 1e-12).mean())
    sentence: Sentence = [
        "A gate that lets x through with probability Φ(x) is GELU on average: at ",
        number(percent(within), "gelu"),
        f" of these places the mean of {_draws(n)} is within two standard errors of it.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "gate", "gelu"),
        figures.draws(line.x, line.gelu, line.mean, line.error, line.single, n),
        "Draws of x times a random gate, their mean, and GELU.",
        height=580,
    )


def closing_in(traced: TracedModel, gated: GatedToken, token: int, place: int) -> Cell:
    """How far the FFN's output is off, against the number of draws."""
    sentence: Sentence = [
        f"One draw of the gates leaves {traced.card.label}'s FFN off by "
        f"{percent(float(gated.errors[0]))} at ",
        quoted(token_labels(traced.trace.tokens)[token]),
        f"; the mean of {_draws(DRAWS[place])}, by ",
        number(percent(float(gated.errors[place])), "gelu"), ".",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "gate-errors", "gelu"),
        figures.errors(gated.draws, gated.errors, gated.expected, DRAWS[place]),
        "How far the FFN's output is from GELU's against the number of draws.",
        height=290,
    )


def what_is_said(run: Run, traced: TracedModel, gated: GatedToken, token: int, place: int) -> Cell:
    """The likeliest words with GELU and with the gates at the chosen token."""
    network, trace, block = traced.network, traced.trace, run.block_of(traced)
    mean, predictions = _draws(DRAWS[place]), []
    for output in (gated.exact, gated.outputs[place]):
        written = trace.blocks[block].ffn.output.clone()
        written[token] = output.to(written.device)
        predictions.append(predict_with_ffn_output(network, trace, block, written, token, 5))
    exact, random = predictions
    sentence: Sentence = [
        "GELU says ", number(exact.words[0], "gelu"), f", the mean of {mean} {random.words[0]}; "
        f"in the first draw, {percent(gated.open)} of the gates were open.",
    ]  # fmt: skip
    return bars_cell(
        Head(sentence, "gate-words", "gelu", under=under_guess(run, traced)),
        [
            Bars("GELU", exact.words, exact.probabilities, "gelu"),
            Bars(mean, random.words, random.probabilities, "muted"),
        ],
        alt="The five likeliest words with GELU and with random gates.",
    )
