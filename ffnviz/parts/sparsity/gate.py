"""GELU as a random gate: each neuron lets its input through with probability Φ(x)."""

import streamlit as st

from ffnviz.analysis.prediction import predict_with_ffn_output
from ffnviz.analysis.sparsity.gate import DRAWS, GatedToken, gate, gated_token
from ffnviz.figures.sparsity import gate as figures
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.parts.guess import under_guess
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run, TracedModel, token_labels
from ffnviz.state.settings import count_setting

SEEDS = 999
N_DRAWS = count_setting("gate_draws", 4, DRAWS[0], DRAWS[-1])
SEED = count_setting("gate_seed", 0, 0, SEEDS)
SETTINGS = (N_DRAWS, SEED)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The gate on a line, the FFN with such gates, and what the network then says."""
    place = nearest(DRAWS, navigator.value(N_DRAWS), by_ratio=True)
    seed, n = navigator.value(SEED), DRAWS[place]
    traced = with_gelu(run)
    token, block = int(run.tokens_of(traced)[run.token]), run.block_of(traced)
    found = traced.per_sentence(
        ("gates", block, token, seed),
        lambda: gated_token(traced.network, traced.trace, block, token, seed),
    )
    line, ffn = st.columns([1.1, 1], gap="medium")
    with line:
        on_a_line(run, n, seed)
        slider(
            "draws that the mean is taken of",
            [f"{stop:,}" for stop in DRAWS],
            place,
            key="gate-draws",
            on_choose=lambda stop, done: navigator.choose(N_DRAWS, DRAWS[stop], done),
        )
        st.button("Draw again", on_click=navigator.choose, args=(SEED, (seed + 1) % (SEEDS + 1)))
    with ffn:
        closing_in(run, traced, found, token, place)
        what_is_said(run, traced, found, token, block, place)


def with_gelu(run: Run) -> TracedModel:
    """The network with GELU, if there is one: its weights were trained for these gates' mean."""
    return next(
        (traced for traced in (run.subject, *run.both) if traced.card.phi.name.startswith("gelu")),
        run.subject,
    )


def on_a_line(run: Run, n: int, seed: int) -> None:
    """The gate over inputs from −3.5 to 3.5."""
    drawn = gate(n, seed)
    within = float((abs(drawn.mean - drawn.gelu) <= 2 * drawn.error + 1e-12).mean())
    sentence: Sentence = [
        "A gate that lets x through with probability Φ(x) is GELU on average: at ",
        number(percent(within), "gelu"), " of these places the mean of ",
        number(f"{n:,} draw{'s' * (n > 1)}", "gelu"), " is within two standard errors of it.",
    ]  # fmt: skip
    chart(
        Head(sentence, "gate", "gelu"),
        figures.draws(drawn.x, drawn.gelu, drawn.mean, drawn.error, drawn.single, n),
        "Draws of x times a random gate, their mean, and GELU.",
        f"{run.stamp} {n} {seed}",
        key="gate",
        height=580,
    )


def closing_in(run: Run, traced: TracedModel, found: GatedToken, token: int, place: int) -> None:
    """How far the FFN's output is off, against the number of draws."""
    n, labels = int(found.draws[place]), token_labels(traced.trace.tokens)
    sentence: Sentence = [
        f"With random gates {traced.card.label}'s FFN is off by ",
        number(percent(float(found.errors[0])), "gelu"), " at ", quoted(labels[token]),
        "; the mean of ", number(f"{n:,} draw{'s' * (n > 1)}", "gelu"), ", by ",
        number(percent(float(found.errors[place])), "gelu"), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "gate-errors", "gelu"),
        figures.errors(found.draws, found.errors, found.expected, n),
        "How far the FFN's output is from GELU's against the number of draws.",
        f"{run.stamp} {place} {found.errors[0]}",
        key="gate-errors",
        height=290,
    )


def what_is_said(
    run: Run, traced: TracedModel, found: GatedToken, token: int, block: int, place: int
) -> None:
    """The likeliest words with GELU and with the gates at the chosen token."""
    if not traced.card.has_word_head:
        return
    told = []
    for output in (found.exact, found.outputs[place]):
        written = traced.trace.blocks[block].ffn.output.clone()
        written[token] = output.to(written.device)
        told.append(predict_with_ffn_output(traced.network, traced.trace, block, written, token, 5))
    n = int(found.draws[place])
    sentence: Sentence = [
        "GELU says ", number(told[0].words[0], "gelu"), f", the mean of {n:,} draw{'s' * (n > 1)} ",
        number(told[1].words[0], "gelu"), f"; in the first, {percent(found.open)} of the gates "
        "were open.",
    ]  # fmt: skip
    chart(
        Head(sentence, "gate-words", "gelu", under=under_guess(run, traced)),
        word_bars([
            Words("GELU", told[0].words, told[0].probabilities, "@gelu"),
            Words(f"{n:,} draw{'s' * (n > 1)}", told[1].words, told[1].probabilities, "@muted"),
        ]),
        "The five likeliest words with GELU and with random gates.",
        f"{run.stamp} {place} {found.errors[0]}",
        key="gate-words",
        height=300,
    )  # fmt: skip
