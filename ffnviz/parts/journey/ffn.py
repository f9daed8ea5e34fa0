"""The chosen token's way through the FFN, stage by stage."""

import numpy as np

from ffnviz.analysis.journey import FfnPath, Vector, ffn_path
from ffnviz.parts import sentences
from ffnviz.parts.journey.neurons import awake_of, neuron_of
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.ffn_picture import Stage, ffn_cell
from ffnviz.state.actions import ChooseNeuron, ChooseToken, OpenPage, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import choice_setting
from ffnviz.state.state import Neuron

# whether the block's FFN adds what it writes
FFN = choice_setting("ffn", {"on": "on", "off": "off"})
DOORS = {  # of each stage in the picture: the part about it, with its page and name
    "x": ("The block", "block", "block"),
    "pre": ("The activation function", "sparsity", "bend"),
    "hidden": ("Active neurons", "sparsity", "awake"),
    "out": ("What it writes", "neurons", "writes"),
    "stream": ("Residual and LayerNorm", "lab", "residual"),
    "total": ("Logit lens", "vocabulary", "lens"),
}


def ffn_of_the_token(run: Run, is_off: bool = False, neuron: Neuron | None = None) -> Cell:
    """The chosen token's way through the FFN, or past it if that is switched off."""
    counted = awake_of(run.subject, run.state.block)
    path = ffn_path(run.trace, run.state.block, run.token, run.card.phi)
    sentence = sentences.of_ffn(len(path.input), counted.d_ff, path.gate is not None)
    by_value = np.argsort(-path.pre_activation, kind="stable")
    order = np.arange(counted.d_ff) if run.state.order == "index" else by_value
    neuron = neuron or neuron_of(run)
    colour = run.card.colour
    return ffn_cell(
        Head(sentence, "ffn" if path.gate is None else "gated", colour),
        _stages(run, path, f"{int(counted.counts[run.token]):,} active", is_off),
        _steps(path, run),
        order,
        neuron.index if neuron.network == run.card.id else None,
        (run.token, run.labels),
        key="ffn",
        on_choose=lambda chosen: ChooseNeuron(run.neuron(chosen)),
        doors={stage: title for stage, (title, _, _) in DOORS.items()},
        on_door=lambda stage: OpenPage(*DOORS[stage][1:]),
        is_off=is_off,
        on_switch=lambda off: Set({FFN.name: "off" if off else None}),
        on_token=ChooseToken,
    )


def _stages(run: Run, path: FfnPath, active: str, is_off: bool) -> list[Stage]:
    d_model, d_ff = f"({len(path.input):,})", f"({len(path.hidden):,})"
    read = "the stream" if np.array_equal(path.input, path.stream) else "normed stream"
    above = f"{int((path.pre_activation > 0).sum()):,} above 0"
    # What the block still does to the new stream: in most networks, nothing.
    steps = [f"+ {run.card.also_adds}"] if run.card.also_adds else []
    if run.card.scales:
        steps.append("scaled")
    behind = f"then {', '.join(steps)}" if steps else ""

    def stream(name: str, title: str, values: Vector, scale: str, note: str = "") -> Stage:
        return Stage(name, title, d_model, note, values, neurons=False, scale=scale)

    def hidden(name: str, title: str, note: str, values: Vector, scale: str = "neurons") -> Stage:
        return Stage(name, title, d_ff, note, values, neurons=True, scale=scale)

    if path.gate is not None and path.value is not None:
        # What φ makes of one projection is multiplied by another: the two, and their product.
        middle = [
            hidden("gate", "gate", above, path.gate, "gate"),
            hidden("value", "value", "x V", path.value, "value"),
        ]
    else:
        middle = [hidden("pre", "made wider", "x W₁ + b₁", path.pre_activation)]
    total = path.stream if is_off else path.new_stream
    return [
        stream("x", "input x", path.input, "input", read),
        *middle,
        hidden("hidden", "bent" if path.gate is None else "product", active, path.hidden),
        stream("out", "made narrow", path.output, "stream"),
        stream("stream", "stream", path.stream, "stream"),
        stream("total", "new stream", total, "stream", behind),
    ]


def _steps(path: FfnPath, run: Run) -> list[tuple[str, str]]:
    adds = "add to" if run.model.ffn(run.state.block).write_norm is None else "norm, add to"
    whole = np.allclose(path.stream + path.output, path.new_stream, rtol=1e-3, atol=1e-3)
    ends = [("+", adds), ("=", "gives" if whole or adds != "add to" else "norm gives")]
    if path.gate is not None:
        return [("φ", ""), ("×", "times"), ("=", "is"), ("W₂", ""), *ends]
    return [("W₁", ""), ("φ", run.card.phi.label), ("W₂", ""), *ends]
