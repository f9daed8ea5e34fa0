"""One network that begins knowing nothing, and what it says of the typed sentence meanwhile."""

from typing import Any

import numpy as np

from ffnviz.figures.learn import Curve, curves
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.jobs.learning import Plan, learn
from ffnviz.parts.course import Course
from ffnviz.parts.learn.moments import (
    AT,
    as_read,
    bar,
    chosen,
    loss_curves,
    of_loss,
    watched,
)
from ffnviz.parts.learn.own import own_text_controls
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, row
from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, count_setting
from ffnviz.training.learn.record import Record
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
    """The bar; once something was recorded, the words, the curves and the map."""
    text = watched(run)
    plans = (Plan(values[PHI], text),)

    def after(measured: Measured[Course]) -> list[Row]:
        course = measured.result
        top = row(bar(NAME, course, values, "Train", file="learned-network.zip"))
        if not course.moments:
            return [top, row(invitation(text))]
        at = chosen(course, values)
        follows = values[BESIDE] == "neuron"
        beside = key_turns(run, course, at, values) if follows else sparsity(course, at)
        return [
            top,
            row(words(course, at), loss(course, at), widths=(1, 1.3)),
            row(neurons(run, course, at, values), beside, widths=(1.15, 1)),
        ]

    training = Measurement[Any](NAME, (), learn, after, (plans, text),
                           [row(invitation(text))], on_request=True, live=True)  # fmt: skip
    return Sheet([training], [PHI, BESIDE, *own_text_controls()])


def invitation(text: str) -> Cell:
    """What will be seen, before anything is."""
    return text_cell(
        f"{NAME}-invitation",
        "A small network that knows nothing reads everyday sentences in which words are hidden, "
        "and learns to guess them. It takes a minute.",
        ["Press “Train”, and watch what it says of ", quoted(as_read(text)), "."],
    )


def words(course: Course, at: int) -> Cell:
    """Its five likeliest words for the hidden one."""
    record = course.moments[at][0]
    sentence: Sentence = [quoted(as_read(record.text)), " ", number(record.words[0])]
    panel = Bars(f"after {record.step:,} steps", record.words,
                  np.array(record.probabilities), "relu")  # fmt: skip
    return bars_cell(
        Head(sentence, "learn-words", "relu"), [panel], key=f"{NAME}-words", leads=True
    )


def loss(course: Course, at: int) -> Cell:
    """The loss on sentences it has not trained on."""
    return chart_cell(
        Head(of_loss(course, course.moments[at]), "learn-loss", "relu"),
        loss_curves(course, at, [("this network", "@relu")]),
        "The loss on held-out sentences, step after step, and that of guessing by frequency.",
        key=f"{NAME}-loss",
        height=170,
    )


def sparsity(course: Course, at: int) -> Cell:
    """The share of active neurons in each block."""
    looked = [m[0] for m in course.moments if m[0].hidden is not None]
    blocks = course.moments[at][0].held_out.blocks
    width = VARIANTS[course.moments[at][0].name].d_ff
    dead = sum(round(block.dead * width) for block in blocks)
    sentence: Sentence = [
        number(percent(blocks[-1].active)),
        f" of block 2's activations are above zero, {percent(blocks[0].active)} of block 1's; "
        f"{dead} dead neurons.",
    ]  # fmt: skip
    drawn = [
        Curve(f"block {place + 1}",
              np.array([100 * each.held_out.blocks[place].active for each in looked]),
              "@relu", "dot" if place == 0 else "solid")
        for place in range(len(blocks))
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "learn-sparsity", "relu"),
        curves(np.array([each.step for each in looked]), drawn, (course.steps, 60.0),
               course.moments[at][0].step, "above zero, %"),
        "The share of activations above zero in each block, step after step.",
        key=f"{NAME}-sparsity",
        height=150,
    )  # fmt: skip


def neurons(run: Run, course: Course, at: int, values: Values) -> Cell:
    """Every token × every neuron of a block, in an order that stays."""
    record = _with_hidden(course, at)
    assert record.hidden is not None  # noqa: S101
    block, neuron = followed(run, course, at, values)
    hidden = record.hidden[block].astype(np.float32)
    place = _hidden_place(record)
    strongest = int(hidden[:, neuron].argmax())
    token = "___" if strongest == place else record.tokens[strongest]
    sentence: Sentence = [
        f"Neuron {block + 1}:{neuron} is strongest at ", quoted(token), ": ",
        number(f"{hidden[strongest, neuron]:.2f}"), ".",
    ]  # fmt: skip
    labels = ["___" if n == place else token or "…" for n, token in enumerate(record.tokens)]
    shown = ActivationMap(
        NAME, f"block {block + 1}", "relu", f"after {record.step:,} steps", hidden,
        np.arange(hidden.shape[1]), labels, place,
    )  # fmt: skip
    return maps_cell(
        Head(sentence, "learn-map", "relu"), [shown], (NAME, neuron), (), "", f"{NAME}-map",
        on_choose=lambda _, chosen: Set({NEURON.name: str(chosen), BESIDE.name: "neuron"}),
        on_order=lambda _: None,
    )  # fmt: skip


def followed(run: Run, course: Course, at: int, values: Values) -> tuple[int, int]:
    """Block and neuron that are followed: the chosen one, or what is largest on the hidden word."""
    record = _with_hidden(course, at)
    assert record.hidden is not None  # noqa: S101
    block = min(run.state.block, len(record.hidden) - 1)
    hidden, neuron = record.hidden[block], values[NEURON]
    known = 0 <= neuron < hidden.shape[1]
    return block, neuron if known else int(hidden[_hidden_place(record)].argmax())


def key_turns(run: Run, course: Course, at: int, values: Values) -> Cell:
    """What activates the neuron that is followed, and how far its key has turned."""
    block, neuron = followed(run, course, at, values)
    looked = [(m[0].step, m[0].neurons) for m in course.moments if m[0].neurons is not None]
    now = [each for step, each in looked if step <= course.moments[at][0].step][-1]
    labels = course.reading.labels
    where = [labels[id_] for id_ in now.strongest[block, neuron] if id_ < len(labels)]
    cosine = float(now.turned[block, neuron])
    degrees = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    sentence: Sentence = [
        f"Neuron {block + 1}:{neuron} is largest on {', '.join(where)}; its key has turned by ",
        number(f"{degrees:.0f}°"), ".",
    ]  # fmt: skip
    turned = np.array([float(each.turned[block, neuron]) for _, each in looked])
    return chart_cell(
        Head(sentence, "learn-key", "relu"),
        curves(np.array([step for step, _ in looked]), [Curve("its key", turned, "@relu")],
               (course.steps, 1.05), course.moments[at][0].step, "cosine with its start"),
        "The cosine of the neuron's key with what it was at the beginning, step after step.",
        key=f"{NAME}-key",
        height=150,
    )  # fmt: skip


def _hidden_place(record: Record) -> int:
    return next(n for n, token in enumerate(record.tokens) if token.lower() == "[mask]")


def _with_hidden(course: Course, at: int) -> Record:
    """The last record up to a moment whose activations were noted, of the sentence shown then."""
    return next(m[0] for m in course.moments[at::-1] if m[0].hidden is not None)
