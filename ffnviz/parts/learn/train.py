"""A network trained from nothing, and what it says of the typed sentence meanwhile."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.jobs.learning import Plan, learn
from ffnviz.parts.learn import moments
from ffnviz.parts.learn.moments import AT, Course
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import counted, number, percent, quoted
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, count_setting
from ffnviz.training.learn.learner import Record
from ffnviz.training.learn.variants import D_FF, VARIANTS

NAME = "learn"
PHIS = {name: VARIANTS[name].label for name in ("relu", "gelu", "swiglu", "identity")}
PHI = choice_setting("learn_phi", PHIS).with_control("φ, for the next start")
NEURON = count_setting("learn_neuron", -1, -1, D_FF - 1)
BESIDE = choice_setting(
    "learn_beside", {"active": "active neurons", "neuron": "one neuron"}
).with_control("Beside the map")
SETTINGS = (PHI, BESIDE, AT, NEURON)


def sheet(run: Run, values: Values) -> Sheet:
    """The bar, and once something was recorded, the words, the curves and the map."""
    text = moments.watched(run)
    plans, one_neuron = (Plan(values[PHI], text),), values[BESIDE] == "neuron"
    sparsity_soon = Soon("learn-sparsity", "How many activations are above zero", 90)
    key_soon = Soon("learn-key", "How far a neuron's key turns", 90)

    def after(measured: Measured[Course]) -> list[Row]:
        course = measured.result
        top = row(moments.bar(NAME, course, values, "Train", file="learned-network.zip"))
        if not course.moments:
            says = Soon("learn-words", "What it says for the hidden word", 100)
            guesses = Soon("learn-loss", "How well it guesses words it has not seen", 100)
            map_soon = Soon("learn-map", "Every neuron on every token", 90)
            beside = row(map_soon, key_soon if one_neuron else sparsity_soon, widths=(1.15, 1))
            return [top, row(invitation(text)), row(says, guesses, widths=(1, 1.3)), beside]
        at = moments.chosen(course, values)
        curve = key_rotation(run, course, at, values) if one_neuron else sparsity(course, at)
        return [
            top,
            row(words(course, at), loss(course, at), widths=(1, 1.3)),
            row(neurons(run, course, at, values), curve, widths=(1.15, 1)),
        ]

    training = Measurement[Any](
        NAME, (), learn, after, (plans, text), [row(invitation(text))], on_request=True, live=True
    )
    return Sheet([training], [PHI, BESIDE, *moments.own_text_controls()])


def invitation(text: str) -> Cell:
    """What will be seen, before anything is."""
    return text_cell(
        f"{NAME}-invitation",
        "A small network that knows nothing reads everyday sentences in which words are hidden, "
        "and learns to guess them. It takes a minute.",
        f"Press “Train”, and watch what it says of {quoted(moments.as_read(text))}.",
    )


def words(course: Course, at: int) -> Cell:
    """Its five likeliest words for the hidden one."""
    record = course.moments[at][0]
    sentence = f"{quoted(moments.as_read(record.text))} {number(f'“{record.words[0]}”')}"
    title, probabilities = f"after {counted(record.step, 'step')}", np.array(record.probabilities)
    panels = [Bars(title, record.words, probabilities, "relu")]
    return bars_cell(Head(sentence, "learn-words", "relu"), panels, key=f"{NAME}-words", leads=True)


def loss(course: Course, at: int) -> Cell:
    """The loss on sentences it has not trained on."""
    reading = course.reading
    sentence = (
        f"{number(percent(course.moments[at][0].held_out.top5))} of "
        f"{counted(reading.n_held_out, 'word')} in unseen sentences are among the network's five "
        f"likeliest; by frequency alone, {percent(reading.guessing.top5)}."
    )
    return chart_cell(
        Head(sentence, "learn-loss", "relu"),
        moments.loss_curves(course, at, [("this network", "@relu")]),
        "The loss on held-out sentences, step after step, and that of guessing by frequency.",
        key=f"{NAME}-loss",
        height=170,
    )


def sparsity(course: Course, at: int) -> Cell:
    """The share of active neurons in each block."""
    evaluated = [moment[0] for moment in moments.evaluated(course)]
    record = course.moments[at][0]
    blocks, d_ff = record.held_out.blocks, VARIANTS[record.name].d_ff
    dead = sum(round(block.dead * d_ff) for block in blocks)
    sentence = (
        f"{number(percent(blocks[-1].active))} of block 2's activations are above zero, "
        f"{percent(blocks[0].active)} of block 1's; {counted(dead, 'dead neuron')}."
    )
    series = {}
    for place in range(len(blocks)):
        active = np.array([100 * each.held_out.blocks[place].active for each in evaluated])
        series[f"block {place + 1}"] = (active, "@relu", "solid" if place else "dot")
    figure = moments.curves(course, at, series, 60.0, "above zero, %")
    alt = "The share of activations above zero in each block, step after step."
    head = Head(sentence, "learn-sparsity", "relu")
    return chart_cell(head, figure, alt, key=f"{NAME}-sparsity", height=150)


def neurons(run: Run, course: Course, at: int, values: Values) -> Cell:
    """Every token × every neuron of a block, in an order that stays."""
    record, all_hidden = _with_hidden(course, at)
    block, neuron = followed(run, course, at, values)
    hidden = all_hidden[block].astype(np.float32)
    place = _mask_place(record)
    strongest = int(hidden[:, neuron].argmax())
    token = "___" if strongest == place else record.tokens[strongest]
    sentence = (
        f"Neuron {block + 1}:{neuron} is strongest at {quoted(token)}: "
        f"{number(f'{hidden[strongest, neuron]:.2f}')}."
    )
    labels = ["___" if n == place else token or "…" for n, token in enumerate(record.tokens)]
    title, note = f"block {block + 1}", f"after {counted(record.step, 'step')}"
    order = np.arange(hidden.shape[1])
    shown = ActivationMap(NAME, title, "relu", note, hidden, order, labels, place)
    return maps_cell(
        Head(sentence, "learn-map", "relu"),
        [shown],
        (NAME, neuron),
        (),
        "",
        f"{NAME}-map",
        on_choose=lambda _, chosen, __: Set({NEURON.name: str(chosen), BESIDE.name: "neuron"}),
        on_order=lambda _: None,
    )


def followed(run: Run, course: Course, at: int, values: Values) -> tuple[int, int]:
    """The block and the neuron to follow: the chosen one, or the largest on the hidden word."""
    record, hidden = _with_hidden(course, at)
    block, neuron = min(run.state.block, len(hidden) - 1), values[NEURON]
    known = 0 <= neuron < hidden.shape[2]
    return block, neuron if known else int(hidden[block, _mask_place(record)].argmax())


def key_rotation(run: Run, course: Course, at: int, values: Values) -> Cell:
    """What activates the neuron that is followed, and by how many degrees its key has turned."""
    block, neuron = followed(run, course, at, values)
    evaluated = [(m[0].step, m[0].neurons) for m in course.moments if m[0].neurons is not None]
    now = [each for step, each in evaluated if step <= course.moments[at][0].step][-1]
    labels = course.reading.labels
    where = [labels[id_] for id_ in now.strongest[block, neuron] if id_ < len(labels)]
    cosine = float(now.turned[block, neuron])
    degrees = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    sentence = (
        f"Neuron {block + 1}:{neuron} is strongest on {', '.join(map(quoted, where))}; its key has "
        f"turned by {number(f'{degrees:.0f}°')}."
    )
    turned = np.array([float(each.turned[block, neuron]) for _, each in evaluated])
    series = {"its key": (turned, "@relu", "solid")}
    figure = moments.curves(course, at, series, 1.05, "cosine with its start")
    alt = "The cosine of the neuron's key with what it was at the beginning, step after step."
    head = Head(sentence, "learn-key", "relu")
    return chart_cell(head, figure, alt, key=f"{NAME}-key", height=150)


def _mask_place(record: Record) -> int:
    return next(n for n, token in enumerate(record.tokens) if token.lower() == "[mask]")


def _with_hidden(course: Course, at: int) -> tuple[Record, NDArray[np.float16]]:
    """The last record up to a moment that has activations, and these."""
    records = (moment[0] for moment in course.moments[at::-1])
    return next((each, each.hidden) for each in records if each.hidden is not None)
