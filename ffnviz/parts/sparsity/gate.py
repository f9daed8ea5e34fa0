"""GELU as a stochastic gate, open with probability Φ(x) (Hendrycks & Gimpel 2016, section 2)."""

from dataclasses import dataclass
from math import log2

import numpy as np
import torch
from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.prediction import predict_with_ffn_output
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Button, Sheet, row, set_to
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, axis, figure, line_trace, log_axis, ring
from ffnviz.pictures.wording import counted, number, percent, quoted
from ffnviz.state.run import Run, TracedModel, token_labels
from ffnviz.state.settings import Values, count_setting, count_slider

NEEDS = (Capability.PLAIN_FFN,)
REACH, POINTS = 3.5, 141
DRAWS = tuple(2**power for power in range(11))
SINGLE = 24  # draws of which each is kept
CHUNK = 128  # draws in memory at a time


@dataclass(frozen=True)
class Gate:
    """The gate at evenly spaced inputs."""

    x: Array  # (POINTS,)
    gelu: Array  # x Φ(x), (POINTS,)
    mean: Array  # of the draws, (POINTS,)
    error: Array  # its standard error, √(x² Φ(x) (1 − Φ(x)) / n), (POINTS,)
    single: Array  # the first draws themselves, (k, POINTS)


@dataclass(frozen=True)
class GatedToken:
    """One token's FFN output with random gates, averaged over each of DRAWS, against GELU's."""

    errors: Array  # ‖output − exact‖ / ‖exact‖ for each number, (k,)
    expected: Array  # the root mean square of this error in expectation, (k,)
    outputs: Tensor  # the FFN's output for each number, (k, d_model)
    exact: Tensor  # its output with GELU, (d_model,)
    open: float  # share of the gates open in the first draw


def gate(n_draws: int, seed: int) -> Gate:
    """Draw the gate n_draws times at each of POINTS inputs from −REACH to REACH."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)
    share = torch.special.ndtr(x)  # Φ(x)
    draws = torch.bernoulli(share.expand(n_draws, -1), generator=generator) * x
    error = (x.square() * share * (1 - share) / n_draws).sqrt()
    return Gate(
        x.numpy(),
        (x * share).numpy(),
        draws.mean(dim=0).numpy(),
        error.numpy(),
        draws[:SINGLE].numpy(),
    )


@torch.no_grad()
def gated_token(
    model: Network, trace: ForwardPass, block: int, token: int, seed: int
) -> GatedToken:
    """Average one token's FFN over 1, 2, 4 … 1,024 draws of every neuron's gate.

    The expected error is √(Σ_n z_n² Φ(z_n) (1 − Φ(z_n)) ‖value_n‖² / n) / ‖output‖: the gates are
    independent, and each has the mean of GELU.
    """
    require(model, NEEDS)
    ffn = model.ffn(block)
    z = trace.blocks[block].ffn.pre_activation[token].cpu().double()  # (d_ff,)
    values = ffn.values.cpu().double()
    share, generator = torch.special.ndtr(z), torch.Generator().manual_seed(seed)
    means, total, done, first = [], torch.zeros_like(z), 0, 0.0
    for n in DRAWS:
        while done < n:
            more = min(CHUNK, n - done)
            opened = torch.bernoulli(share.expand(more, -1), generator=generator)
            first = float(opened[0].mean()) if done == 0 else first
            total += opened.sum(dim=0)
            done += more
        means.append(total / n * z)
    bias = 0 if ffn.output_bias is None else ffn.output_bias.cpu().double()
    outputs, exact = torch.stack(means) @ values + bias, (share * z) @ values + bias
    length = exact.norm().clamp_min(1e-30)
    one = (z.square() * share * (1 - share) * values.square().sum(dim=-1)).sum().sqrt() / length
    return GatedToken(
        ((outputs - exact).norm(dim=-1) / length).numpy(),
        float(one) / np.sqrt(DRAWS),
        outputs.float(),
        exact.float(),
        first,
    )


def draws(drawn: Gate, n: int) -> Figure:
    """Single draws as points, their mean as a line, the band it should lie in."""
    x, above, below = drawn.x, drawn.gelu + 2 * drawn.error, drawn.gelu - 2 * drawn.error
    pale = f"@muted/{min(0.5, 1.2 / len(drawn.single) + 0.06):.2f}"
    return figure(
        [
            {"type": "scatter", "mode": "lines", "name": "two standard errors around it",
             "x": np.concatenate([x, x[::-1]]), "y": np.concatenate([above, below[::-1]]),
             "fill": "toself",
             "fillcolor": "@gelu/0.15", "line": {"width": 0, "color": "@gelu/0.15"},
             "hoverinfo": "skip"},
            {"type": "scatter", "mode": "markers", "name": "single draws: 0 or x",
             "x": np.tile(x, len(drawn.single)), "y": drawn.single.ravel(), "hoverinfo": "skip",
             "marker": {"size": 5, "color": pale}},
            line_trace("GELU", x, drawn.gelu, "@gelu", 6),
            line_trace(f"mean of {counted(n, 'draw')}", x, drawn.mean, "@text", 2),
        ],
        axis("x", range=[float(x[0]), float(x[-1])]),
        axis("x · gate", range=[-3.6, 3.6]),
        margin={"l": 70, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip


def errors(expected: Array, measured: Array, place: int) -> Figure:
    """The output's error against the DRAWS, in percent, both logarithmic; one is marked."""
    n, off = np.array(DRAWS), 100 * measured
    return figure(
        [
            line_trace("expected: falls as 1/√n", n, 100 * expected, "@muted", 2, "dash",
                       hoverinfo="none"),
            line_trace("drawn", n, off, "@gelu", 3, dots=8,
                       hovertemplate="%{x:,} draws: %{y:.3g}%<extra></extra>"),
            ring(counted(DRAWS[place], "draw"), n[[place]], off[[place]], "@gelu", 15),
        ],
        log_axis("draws n", [4**k for k in range(6)]),
        axis("output off by, %", type="log", dtick=1),
    )  # fmt: skip


SEEDS = 999
N_DRAWS = count_slider("gate_draws", 4, DRAWS, "draws in the mean", "{:,}")
SEED = count_setting("gate_seed", 0, 0, SEEDS)
SETTINGS = (N_DRAWS, SEED)


def sheet(run: Run, values: Values) -> Sheet:
    """The gate on a line, the FFN with such gates, and what the network then says."""
    place = round(log2(values[N_DRAWS]))  # all draws are powers of two
    seed, networks = values[SEED], (run.subject, *run.both)
    # The network with GELU, if there is one: its weights were trained for these gates' mean.
    with_gelu = [each for each in networks if each.card.phi.name.startswith("gelu")]
    traced = with_gelu[0] if with_gelu else run.subject
    token, block = int(run.tokens_of(traced)[run.token]), run.block_of(traced)
    gated = traced.per_sentence(
        ("gates", block, token, seed),
        lambda: gated_token(traced.network, traced.trace, block, token, seed),
    )
    ffn = [closing_in(traced, gated, token, place)]
    if traced.card.has_word_head:
        ffn.append(what_is_said(run, traced, gated, token, place))
    again = Button("Draw again", set_to(SEED, (seed + 1) % (SEEDS + 1)))
    return Sheet([row(on_a_line(DRAWS[place], seed), ffn, widths=(1.1, 1))], [N_DRAWS, again])


def on_a_line(n: int, seed: int) -> Cell:
    """The gate over inputs from −3.5 to 3.5."""
    line = gate(n, seed)
    within = float((abs(line.mean - line.gelu) <= 2 * line.error + 1e-12).mean())
    sentence = (
        "A gate that lets x through with probability Φ(x) is GELU on average: at "
        f"{number(percent(within), 'gelu')} of the inputs in the picture the mean of "
        f"{counted(n, 'draw')} is within two standard errors of it."
    )
    alt = "Draws of x times a random gate, their mean, and GELU."
    return chart_cell(Head(sentence, "gate", "gelu"), draws(line, n), alt, height=580)


def closing_in(traced: TracedModel, gated: GatedToken, token: int, place: int) -> Cell:
    """How far the FFN's output is off, against the number of draws."""
    sentence = (
        f"One draw of the gates leaves {traced.card.label}'s FFN off by "
        f"{percent(float(gated.errors[0]))} at {quoted(token_labels(traced.trace.tokens)[token])}; "
        f"the mean of {counted(DRAWS[place], 'draw')}, by "
        f"{number(percent(float(gated.errors[place])), 'gelu')}."
    )
    drawn = errors(gated.expected, gated.errors, place)
    alt = "How far the FFN's output is from GELU's against the number of draws."
    return chart_cell(Head(sentence, "gate-errors", "gelu"), drawn, alt, height=290)


def what_is_said(run: Run, traced: TracedModel, gated: GatedToken, token: int, place: int) -> Cell:
    """The likeliest words with GELU and with the gates at the chosen token."""
    network, trace, block = traced.network, traced.trace, run.block_of(traced)
    mean, predictions = counted(DRAWS[place], "draw"), []
    for output in (gated.exact, gated.outputs[place]):
        written = trace.blocks[block].ffn.output.clone()
        written[token] = output.to(written.device)
        predictions.append(predict_with_ffn_output(network, trace, block, written, token, 5))
    exact, random = predictions
    sentence = (
        f"GELU says {number(f'“{exact.words[0]}”', 'gelu')}, the mean of {mean} "
        f"{quoted(random.words[0])}; in the first draw, {percent(gated.open)} of the gates were "
        "open."
    )
    head = Head(sentence, "gate-words", "gelu", under=under_guess(run, traced))
    panels = [
        Bars("GELU", exact.words, exact.probabilities, "gelu"),
        Bars(mean, random.words, random.probabilities, "muted"),
    ]
    return bars_cell(head, panels, alt="The five likeliest words with GELU and with random gates.")
