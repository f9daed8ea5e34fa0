"""Interaction: what two changes do only together, with φ, without it, and according to φ″."""

from functools import partial

import numpy as np
from torch import Tensor

from ffnviz.analysis.lab.interaction import PAIRS, Interaction, direction, interaction
from ffnviz.analysis.lab.local_map import terms_of
from ffnviz.analysis.number_format import short
from ffnviz.figures.lab.curves import lines
from ffnviz.figures.layout import axis
from ffnviz.figures.wording import Sentence, neuron_name, number, percent, quoted
from ffnviz.parts.neuron_shown import open_neuron
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, number_setting

NAMES = {name.split()[0]: name for name in PAIRS}
FIRST, *OTHERS = NAMES.items()
U = choice_setting("change_u", NAMES).with_control("u")
V = choice_setting("change_v", dict([*OTHERS, FIRST])).with_control("v")  # by default, another
STOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
STEP = number_setting("change", 1.0, STOPS[0], STOPS[-1]).with_control(
    "length of both, a", STOPS, lambda stop: f"{stop:g}×"
)
SETTINGS = (STEP, U, V)
LEAST = 1e-17  # on a logarithmic axis


def sheet(run: Run, values: Values) -> Sheet:
    """The interaction against the length of the steps, and the neurons that make it."""
    u, v, step = values[U], values[V], values[STEP]
    x = run.trace.blocks[run.state.block].ffn.input[run.token]
    result = run.subject.per_sentence(
        ("interaction", run.state.block, run.token, u, v, step),
        lambda: interaction(
            terms_of(run.model.ffn(run.state.block)), x, _along(run, u), _along(run, v), step
        ),
    )
    return Sheet([row(the_curves(run, result, step), its_neurons(run, result), widths=(1.4, 1))])


def _along(run: Run, name: str) -> Tensor:
    block = run.state.block
    return run.subject.per_network(
        f"direction {name} {block}", lambda: direction(run.model, block, NAMES[name])
    )


def the_curves(run: Run, result: Interaction, step: float) -> Cell:
    """The interaction's norm ‖I‖ against the length a of the steps."""
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]), " the two changes together do ",
        number(percent(result.chosen)), " of the FFN's output that neither does alone; without φ, "
        f"{short(result.chosen_without)}",
    ]  # fmt: skip
    if run.card.phi.exact_zeros and not run.card.gated:
        until = f"{short(result.until)}×"
        sentence.append(f", and as good as nothing up to {until}, where a neuron switches")
    sentence.append(".")
    series = {
        f"with {run.card.phi.label}": (result.with_phi, f"@{run.card.colour}", "solid"),
        **({"φ″ says": (result.second, "@text", "dot")} if result.second.any() else {}),
        "without φ": (result.without, "@muted", "dash"),
    }
    figure = lines(
        result.steps,
        {name: (np.maximum(values, LEAST), *style) for name, (values, *style) in series.items()},
        axis("length a of both steps", type="log", exponentformat="power", dtick=1),
        axis("‖I‖ / ‖F(x)‖", type="log", exponentformat="power", dtick=4, range=[-17.2, 1]),
        margin={"l": 84, "r": 20, "t": 60, "b": 56},
        shapes=[{"type": "line", "x0": step, "x1": step, "y0": 0, "y1": 1, "yref": "paper",
                 "line": {"color": "@text", "width": 2, "dash": "dot"}}],
    )  # fmt: skip
    for trace in figure["data"]:
        trace["mode"] = "lines"
    return chart_cell(
        Head(sentence, "interaction", run.card.colour), figure,
        "How much two changes of the FFN's input do only together, against their length.",
        height=600,
    )  # fmt: skip


def its_neurons(run: Run, result: Interaction) -> Cell:
    """The neurons that write most of the interaction."""
    names = [neuron_name(run.state.block, int(neuron)) for neuron in result.neurons]
    sentence: Sentence = [
        "Most of it is written by neuron ", number(names[0]),
        f", {percent(float(result.lengths[0]))} of the output's length: both changes reach its φ.",
    ]  # fmt: skip
    panel = Bars("", names, 100 * result.lengths, run.card.colour, result.neurons)
    return bars_cell(
        Head(sentence, "interaction-neurons", run.card.colour), [panel],
        alt="The neurons that write most of the interaction.",
        of="part of I, % of the output's length", named="neuron",
        on_choose=partial(open_neuron, run),
    )  # fmt: skip
