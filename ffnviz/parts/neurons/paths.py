"""Paths: which neurons of later blocks a neuron feeds through the stream."""

from functools import partial

import numpy as np

from ffnviz.analysis.causal.paths import NeuronPaths, paths_to_later
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import go_to_block, neuron_controls
from ffnviz.parts.sheet import Row, Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import neuron_name, number, percent, quoted, signed
from ffnviz.state.actions import OpenNeuron
from ffnviz.state.run import Run
from ffnviz.state.settings import Values
from ffnviz.state.state import Neuron

SHOWN = 12


def sheet(run: Run, _: Values) -> Sheet:
    """The later neurons it feeds most, beside the share of its effect that is direct."""
    controls = neuron_controls(run)
    if run.state.block == run.model.sizes.n_blocks - 1:
        last = f"Block {run.state.block + 1} is the last: no FFN reads what its neurons write."
        back = [] if run.state.block == 0 else [go_to_block(0)]
        return Sheet([row(text_cell("last-block", last, tone="info"))], [*controls, *back])
    return Sheet(rows_of(run, neuron_shown(run)), controls)


def rows_of(run: Run, neuron: int) -> list[Row]:
    """The neuron's paths, or why there are none to show."""
    block = run.state.block
    try:
        paths = run.subject.per_sentence(
            ("paths", block, neuron, run.place),
            partial(paths_to_later, run.whole, block, neuron, run.place, SHOWN),
        )
    except NotForThisNetwork as error:
        return [row(text_cell("no-paths", str(error), tone="info"))]
    if not any(each.direct.any() for each in paths):
        silent = (
            f"Neuron {neuron_name(block, neuron)} is 0 on {quoted(run.labels[run.token])}, so it "
            "writes nothing there that a later neuron could read."
        )
        return [row(text_cell("silent", silent, tone="info"))]
    return [row(strongest_paths(run, neuron, paths), by_block(run, neuron, paths), widths=(1.5, 1))]


def strongest_paths(run: Run, neuron: int, paths: tuple[NeuronPaths, ...]) -> Cell:
    """The later neurons with the largest direct effect, beside the rest; a click opens one."""
    block, d_ff = run.state.block, run.model.sizes.d_ff
    ends = [(block + 1 + later, int(m)) for later, each in enumerate(paths) for m in each.strongest]
    direct, rest = (
        np.array([float(getattr(paths[to - block - 1], kind)[m]) for to, m in ends])
        for kind in ("direct", "rest")
    )
    order = np.argsort(-np.abs(direct), kind="stable")[:SHOWN]
    ends, direct, rest = [ends[at] for at in order], direct[order], rest[order]
    verb = "raises" if direct[0] > 0 else "lowers"
    sentence = (
        f"On {quoted(run.labels[run.token])} neuron {neuron_name(block, neuron)} {verb} the "
        f"pre-activation of {neuron_name(*ends[0])} most: by {number(signed(abs(direct[0])))} "
        f"through the stream; all else that it changes on the way adds {signed(rest[0])}."
    )
    names = [neuron_name(*end) for end in ends]
    ids = np.array([to * d_ff + m for to, m in ends])

    def opened(chosen: int) -> OpenNeuron:
        neuron = Neuron(run.card.id, *divmod(chosen, d_ff))
        return OpenNeuron(neuron, "neurons", "wakes", run.state.token)

    head = Head(sentence, "paths", run.card.colour)
    panels = [
        Bars("value · key", names, direct, run.card.colour, ids),
        Bars("the rest", names, rest, "muted", ids),
    ]
    alt = "What the neuron adds to the pre-activations of later neurons, directly and otherwise."
    of = "added to the pre-activation; click a bar to open that neuron"
    return bars_cell(head, panels, alt=alt, of=of, named="neuron", on_choose=opened)


def by_block(run: Run, neuron: int, paths: tuple[NeuronPaths, ...]) -> Cell:
    """The direct effect and the measured one on all neurons of each later block."""
    block = run.state.block
    later = np.unique(np.linspace(0, len(paths) - 1, min(SHOWN, len(paths))).round().astype(int))
    names = [f"block {block + 2 + each}" for each in later]
    direct, rest, total = (
        np.array([np.linalg.norm(getattr(paths[each], kind)) for each in later])
        for kind in ("direct", "rest", "total")
    )
    most = int(total.argmax())
    explained = 1 - (rest[most] / max(total[most], 1e-30)) ** 2
    sentence = (
        f"Without neuron {neuron_name(block, neuron)} at this token, {names[most]}'s "
        "pre-activations change most; direct effects explain "
        f"{number(percent(max(0.0, float(explained))))} of that change."
    )
    return bars_cell(
        Head(sentence, "paths-blocks", run.card.colour),
        [
            Bars("value · key", names, direct, run.card.colour),
            Bars("measured", names, total, "muted"),
        ],
        alt="The norm of what the neuron adds to each later block's pre-activations.",
        of="norm over the block's neurons",
        named="block",
    )
