"""Switch off: sets of neurons set to zero, scaled or fixed, and what that changes."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ffnviz.analysis.measuring import Progress, subprogress
from ffnviz.analysis.neurons.intervention import (
    Change,
    ProbeLoss,
    change,
    direct_contributions,
    masked_loss,
)
from ffnviz.analysis.neurons.names import NeuronSetError, read_set, written_set
from ffnviz.analysis.neurons.probes import read_probes
from ffnviz.analysis.prediction import Prediction, predict
from ffnviz.models.edit import Edit
from ffnviz.models.trace import Trace
from ffnviz.parts.guess import guess_cell
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import error_cell, neuron_controls
from ffnviz.parts.sheet import Button, Control, Measured, Measurement, Sheet, Soon, row, set_to
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, axis, bar_trace, escaped, figure
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import counted, neuron_name, number, percent, quoted
from ffnviz.state import settings
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, number_setting


def changes(output: Array, stream: Array, twin: str) -> Figure:
    """How far each block's FFN output and the stream behind it moved, as ‖change‖ / ‖plain‖."""
    places = [f"block {number}" for number in range(1, len(output) + 1)]
    largest = max(float(output.max()), float(stream.max()), 1e-3)
    both = (("FFN output", output, f"@{twin}"), ("stream after the block", stream, "@muted"))
    looks = {"orientation": "h", "textposition": "outside", "cliponaxis": False}
    looks |= {"meta": {"named": "block", "labels": []}, "hoverinfo": "none"}
    traces = []
    for name, values, colour in both:
        text = [escaped(percent(float(value))) for value in values]
        traces.append(bar_trace(name, 100 * values, places, colour, text=text, **looks))
    return figure(
        traces,
        axis("moved by, % of its length", range=[0, 120 * largest], zeroline=False),
        axis("", autorange="reversed", showgrid=False),
        barmode="group",
        margin={"l": 84, "r": 20, "t": 36, "b": 52},
    )


MOST = 10
LEAST = 6
LONGEST = 1_000
LONGEST_PIECE = 20  # that a click may add
ACTS = {"zero": "set to zero", "scale": "multiply by", "fix": "fix to"}
DO = choice_setting("do", ACTS).with_control("What to do with them")
BY = number_setting("by", 2.0, -20, 20)
TOKENS = {"all": "at every token", "token": "at the chosen token"}
WHERE = choice_setting("where", TOKENS).with_control("Where")


def _whole_pieces(text: str) -> str:
    """A set too long for a link, cut between two of its pieces: 2:1709 must not become 2:17."""
    cut = settings.shortened(text, LONGEST, settings.ENCODED * LONGEST)
    whole = re.match(r".*[\s,;]", cut, re.DOTALL)
    return cut if len(cut) == len(text) or not whole else whole[0]


SET = Setting("off", "", _whole_pieces, str, longest=LONGEST).with_control(
    "Neurons to switch; 2:17 is neuron 17 of block 2"
)  # empty: the neuron shown
SETTINGS: tuple[Setting[Any], ...] = (SET, DO, BY, WHERE)

Neurons = Mapping[int, Collection[int]]


def sheet(run: Run, values: Values) -> Sheet:
    """What the switched neurons change, beside those that add most to the likeliest word."""
    sizes, block, shown = run.model.sizes, run.state.block, neuron_shown(run)
    plain = predict(run.model, run.trace, run.token)
    added = direct_contributions(run.model, run.trace, run.token, int(plain.ids[0]))
    controls: list[Control] = [
        *neuron_controls(run),
        replace(SET, example=f"{neuron_name(block, shown)}, the neuron above"),
        DO,
        *([] if values[DO] == "zero" else [replace(BY, label=DO.options[values[DO]])]),
        WHERE,
        Button(f"Switch the {MOST} that add most", set_to(SET, written_set(strongest(added)))),
        Button("Reset", Set({each.name: None for each in SETTINGS}) if values else None),
    ]
    try:
        neurons = read_set(values[SET], sizes.n_blocks, sizes.d_ff, block) or {block: (shown,)}
    except NeuronSetError as error:
        return Sheet([row(error_cell("no-set", "This names no set of neurons.", error))], controls)
    edits = edits_of(run, values, neurons)
    edited = run.model.trace(run.state.sentence, edits)
    words = before_and_after(run, plain, edited, neurons, edits)
    changes = how_far(run, change(run.whole, edited, run.place))
    matter, probes = top_neurons(run, plain, added, neurons), on_probes(run, edits)
    return Sheet([row([words, changes], [*matter, probes], widths=(1.5, 1))], controls)


def edits_of(run: Run, values: Values, neurons: Neurons) -> list[Edit]:
    """An edit for each block of the set."""
    tokens = None if values[WHERE] == "all" else [run.place]
    by = 0.0 if values[DO] == "zero" else values[BY]
    scale, value = (None, by) if values[DO] == "fix" else (by, None)
    return [Edit(block, members, scale, value, tokens) for block, members in neurons.items()]


def how_far(run: Run, changed: Change) -> Cell:
    """How far the FFNs' outputs and the stream moved."""
    block = int(changed.output.argmax())
    sentence = (
        f"FFN {block + 1}'s output changes by {number(percent(float(changed.output[block])))}, the "
        f"final stream by {percent(float(changed.stream[-1]))}."
    )
    drawn = changes(changed.output, changed.stream, run.card.colour)
    alt = "How far each block's FFN output and the stream after it moved."
    return chart_cell(Head(sentence, "changes", run.card.colour), drawn, alt, height=250)


def on_probes(run: Run, edits: Sequence[Edit]) -> Measurement[ProbeLoss]:
    """How much worse masked words are guessed, measured on request."""
    everywhere = tuple((e.block, tuple(e.neurons or ()), e.scale, e.value) for e in edits)
    setup = (run.card.id, run.device, everywhere)

    def after(measured: Measured[ProbeLoss]) -> Sequence[Cell]:
        result = measured.result
        worse = f"{result.worse:.4f} ± {result.error:.4f}".replace("-", "−")
        sentence = (
            f"On {len(result.plain):,} hidden words of our probe sentences the loss goes from "
            f"{result.plain.mean():.3f} to {result.edited.mean():.3f} nats: a difference "
            f"of {number(worse)} (standard error of the paired differences)."
        )
        return [text_cell("probes-loss", sentence)]

    soon = Soon("changes", "How much worse it guesses hidden words", 70)
    return Measurement(
        "probes",
        setup,
        loss,
        after,
        (tuple(edits),),
        [soon],
        label="Try it on 2,000 hidden words",
        doing="Guessing hidden words …",
        on_request=True,
    )


def loss(run: Run, progress: Progress, edits: Sequence[Edit]) -> ProbeLoss:
    """The loss of the plain network, computed once for everybody, and of the edited one."""
    probes = run.subject.per_network("probes", read_probes)
    first, second = subprogress(progress, 0, 2), subprogress(progress, 1, 2)
    plain = run.subject.per_network("plain loss", lambda: masked_loss(run.model, probes, (), first))
    return ProbeLoss(plain, masked_loss(run.model, probes, edits, second))


def before_and_after(
    run: Run, plain: Prediction, edited: Trace, neurons: Neurons, edits: list[Edit]
) -> Cell:
    """The ten likeliest words, plain and edited."""
    after = predict(run.model, edited, run.place)
    then = float(edited.logits_at(run.place).softmax(dim=-1)[int(plain.ids[0])])
    n, done = sum(map(len, neurons.values())), _done(edits[0])
    sentence = (
        f"With {counted(n, 'neuron')} {done}, {quoted(plain.words[0])} goes from "
        f"{percent(float(plain.probabilities[0]))} to {number(percent(then))} at "
        f"{quoted(run.labels[run.token])}."
    )
    guesses = [("as it is", plain, run.card.colour), (done, after, "muted")]
    alt = "The ten likeliest words of the network as it is and with the neurons switched."
    return guess_cell(run, sentence, "switched", guesses, alt, "switched-words")


def _done(edit: Edit) -> str:
    if edit.value is not None:
        return f"fixed to {edit.value:g}"
    return "set to zero" if edit.scale == 0 else f"multiplied by {edit.scale:g}"


def top_neurons(run: Run, plain: Prediction, added: np.ndarray, neurons: Neurons) -> list[Cell]:
    """The neurons that add most to the likeliest word's logit; a click adds or removes one."""
    d_ff, values = run.model.sizes.d_ff, added.ravel()
    order = np.argsort(-values, kind="stable")
    places = np.concatenate([order[:MOST], order[-LEAST:]])
    names = [neuron_name(*divmod(int(place), d_ff)) for place in places]
    sentence = (
        f"Directly, {number(names[0])} adds most to the logit of {quoted(plain.words[0])}: "
        f"{values[order[0]]:+.2f}. Click a bar to switch its neuron."
    )
    accent, title = run.card.colour, "2:17: neuron 17 of block 2; ▸ switched"
    colours = [accent if value > 0 else "muted" for value in values[places]]
    on = frozenset(neuron_name(block, n) for block, members in neurons.items() for n in members)
    picture = bars_cell(
        Head(sentence, "contributions", accent),
        [Bars(title, names, values[places], colours, places, on)],
        alt="The neurons that add most to the likeliest word's logit, and that take most away.",
        of="added to the logit",
        on_choose=lambda place: toggle(neurons, *divmod(place, d_ff)),
    )
    if len(written_set(neurons)) + LONGEST_PIECE <= LONGEST:
        return [picture]
    message = "The link is nearly full: neurons that do not fit in it are not added."
    return [picture, text_cell("no-room", message, tone="info")]


def strongest(added: np.ndarray) -> Neurons:
    """The neurons with the largest contributions to a word, of shape (n_blocks, d_ff)."""
    most = np.argsort(-added, axis=None, kind="stable")[:MOST]
    blocks, neurons = np.unravel_index(most, added.shape)
    return {block: neurons[blocks == block].tolist() for block in range(len(added))}


def toggle(neurons: Neurons, block: int, neuron: int) -> Set | None:
    """The action that adds or removes the neuron; None if a link has no room for the set."""
    toggled = {**neurons, block: {*neurons.get(block, ())} ^ {neuron}}
    written = written_set(toggled)
    return set_to(SET, written) if len(written) <= LONGEST else None
