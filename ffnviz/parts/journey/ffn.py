"""The chosen token's way through the FFN, stage by stage."""

import numpy as np

from ffnviz.analysis.journey.path import FfnPath, Vector, ffn_path
from ffnviz.figures.journey import sentences
from ffnviz.parts.journey.neurons import awake_of, neuron_of
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.ffn_picture import Stage, ffn_cell
from ffnviz.pictures.head import Head
from ffnviz.state.actions import ChooseNeuron, OpenPage
from ffnviz.state.run import Run

DOORS = {  # of each stage in the picture: the part about it, with its page and name
    "x": ("The block", "block", "block"),
    "pre": ("The activation function", "sparsity", "bend"),
    "hidden": ("Active neurons", "sparsity", "awake"),
    "out": ("What it writes", "neurons", "writes"),
    "stream": ("Residual and LayerNorm", "lab", "residual"),
    "total": ("Logit lens", "vocabulary", "lens"),
}


def ffn_of_the_token(run: Run) -> Cell:
    """The chosen token's way through the FFN."""
    counted = awake_of(run.subject, run.state.block)
    count = int(counted.counts[run.token])
    sentence = sentences.of_ffn(run.labels[run.token], count, counted.d_ff, counted.threshold)
    inactive = "exactly zero" if counted.threshold == 0 else "near zero"
    path = ffn_path(run.trace, run.state.block, run.token, run.card.phi)
    by_value = np.argsort(-path.pre_activation, kind="stable")
    order = np.arange(counted.d_ff) if run.state.order == "index" else by_value
    neuron = neuron_of(run)
    colour = run.card.colour
    return ffn_cell(
        Head(sentence, "ffn" if path.gate is None else "gated", colour),
        _stages(path, f"{counted.d_ff - count:,} {inactive}"),
        _steps(path, run),
        order,
        neuron.index if neuron.network == run.card.id else None,
        run.labels[run.token],
        key="ffn",
        on_choose=lambda chosen: ChooseNeuron(run.neuron(chosen)),
        doors={stage: title for stage, (title, _, _) in DOORS.items()},
        on_door=lambda stage: OpenPage(*DOORS[stage][1:]),
    )


def _stages(path: FfnPath, inactive: str) -> list[Stage]:
    d_model, d_ff = f"({len(path.input):,})", f"({len(path.hidden):,})"
    above = f"{int((path.pre_activation > 0).sum()):,} above 0"

    def stream(name: str, title: str, values: Vector, scale: str) -> Stage:
        norm = f"norm {float(np.linalg.norm(values)):.1f}"
        return Stage(name, title, d_model, norm, values, neurons=False, scale=scale)

    def hidden(name: str, title: str, note: str, values: Vector, scale: str = "neurons") -> Stage:
        return Stage(name, title, d_ff, note, values, neurons=True, scale=scale)

    if path.gate is not None and path.value is not None:
        # What φ makes of one projection is multiplied with another: the two, and their product.
        middle = [
            hidden("gate", "gate", above, path.gate, "gate"),
            hidden("value", "value", "x V", path.value, "value"),
        ]
    else:
        middle = [hidden("pre", "before φ", above, path.pre_activation)]
    return [
        stream("x", "input x", path.input, "input"),
        *middle,
        hidden("hidden", "after φ" if path.gate is None else "product", inactive, path.hidden),
        stream("out", "output", path.output, "stream"),
        stream("stream", "stream", path.stream, "stream"),
        stream("total", "new stream", path.new_stream, "stream"),
    ]


def _steps(path: FfnPath, run: Run) -> list[tuple[str, str]]:
    times = f"{len(path.hidden) / len(path.input):.3g}"
    adds = "add to" if run.model.ffn(run.state.block).write_norm is None else "norm, add to"
    whole = np.allclose(path.stream + path.output, path.new_stream, rtol=1e-3, atol=1e-3)
    ends = [("+", adds), ("=", "gives" if whole or adds != "add to" else "norm gives")]
    if path.gate is not None:
        return [("φ", f"× {times}"), ("×", "times"), ("=", "is"), ("W₂", f"÷ {times}"), *ends]
    bends = [("W₁", f"expand × {times}"), ("φ", run.card.phi.label)]
    return [*bends, ("W₂", f"compress ÷ {times}"), *ends]
