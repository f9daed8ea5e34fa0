"""A bet on two networks that differ in one thing, and why one run decides little."""

import json
from typing import Any

import numpy as np

from ffnviz.analysis.lab.trained import QUESTIONS, compare_trainings
from ffnviz.jobs.learning import Guessing, Moment, Plan, Reading, learn
from ffnviz.models.config import ASSETS
from ffnviz.parts.experiments import EACH, difference, trainings_chart
from ffnviz.parts.learn import moments
from ffnviz.parts.learn.moments import AT, Course, Status
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.bars import Bars, bars_cell, replay_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.votes import FIRST_BET, Bet
from ffnviz.pictures.wording import number, percent, quoted, stop, strong
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, count_setting
from ffnviz.training.learn.learner import HeldOut, Record, Sparsity
from ffnviz.training.learn.variants import VARIANTS

FILE = ASSETS / "everyday" / "bet.json"  # assets/everyday/README.md has the command
HELD_OUT = 500


def recorded() -> Course:
    """What `ffnviz learn --json` wrote."""
    table = json.loads(FILE.read_text(encoding="utf-8"))
    networks = [
        [_record(name, table["text"], each) for each in records]
        for name, records in table["networks"].items()
    ]
    pairs = tuple(zip(*networks, strict=True))
    reading = Reading(Guessing(**table["guessing_by_frequency"]), 0, HELD_OUT)
    return Course(Status.ENDED, pairs, reading, steps=table["steps"], recorded=True)


def _record(name: str, text: str, table: dict[str, Any]) -> Record:
    words: dict[str, float] = table["words"]
    blocks = tuple(Sparsity(**each) for each in table["blocks"])
    held_out = HeldOut(table["loss"], table["top5"], blocks)
    hidden = np.zeros((0, 0, 0), np.float16)
    return Record(
        name, table["step"], 0.0, text, (), tuple(words), tuple(words.values()), held_out, hidden
    )


NAME = "bet"
AGAINST_USUAL = {each.variant for each in QUESTIONS if each.base == "relu"}
OTHERS = {name: each.label for name, each in VARIANTS.items() if name in AGAINST_USUAL}
AGAINST = choice_setting("against", OTHERS).with_control("ReLU against")
BETS = {"open": "not yet", "first": "ReLU", "second": "the other", "same": "no difference"}
BET = choice_setting("my_bet", BETS)
SEED = count_setting("learn_seed", 0, 0, 9_999).with_control("Seed")
SETTINGS = (AGAINST, BET, SEED, AT)
ALIKE = 0.02  # nats: a smaller difference is not seen
STEPS = 1_200  # two networks then take as long as one in “Train”


def sheet(run: Run, values: Values) -> Sheet:
    """The bar, both networks' words and losses, and what these say of the bet."""
    text = moments.watched(run)
    name = values[AGAINST]
    plans = tuple(Plan(each, text, STEPS, values[SEED]) for each in ("relu", name))

    def after(measured: Measured[Course]) -> list[Row]:
        course = measured.result
        waits = "Place your bet first." if values[BET] == "open" else ""
        file = "learned-networks.zip"
        controls = row(moments.bar(NAME, course, values, "Train both", file=file, waits_for=waits))
        top = [controls] if course.recorded else [row(placed(course, values)), controls]
        if course.status is Status.NEW and not course.moments:
            return [*top, row(invitation(name))]
        if not course.moments:
            says = Soon("learn-words", "What each says for the hidden word", 150)
            guesses = Soon("learn-loss", "How well each guesses unseen words", 270)
            return [*top, row(invitation(name)), row(says, guesses, widths=(1.3, 1))]
        at = moments.chosen(course, values)
        rows = [*top, row(words(course, at), losses(course, at), widths=(1.3, 1))]
        if course.status is Status.ENDED:
            rows.append(row(verdict(course), decided(course)))
        return rows

    training = Measurement[Any](
        NAME,
        (),
        learn,
        after,
        (plans, text),
        [row(invitation(name))],
        on_request=True,
        live=True,
        recorded=recorded,
    )
    return Sheet([training], [AGAINST, SEED, *moments.own_text_controls()])


def placed(course: Course, values: Values) -> Cell:
    """The question to bet on, of the two networks that are trained next or have been."""
    name, bets = values[AGAINST], list(BETS)[1:]
    begun = course.status is not Status.NEW and name in course.networks[1:]
    ended = course.status is Status.ENDED and begun
    return Bet(
        ask="Which will do better on sentences it has not seen?",
        options=["ReLU", VARIANTS[name].label, "no difference"],
        bet=None if values[BET] == "open" else bets.index(values[BET]),
        scene=FIRST_BET + list(OTHERS).index(name),
        begun=begun,
        outcome=bets.index(winner(course)) if ended else None,
        on_bet=lambda option: Set({BET.name: bets[option]}),
    ).to_cell(f"{NAME}-placed")


def invitation(name: str) -> Cell:
    """What will be compared, before anything is."""
    return text_cell(
        f"{NAME}-invitation",
        f"Two networks, ReLU and {VARIANTS[name].label}: the same initial weights wherever shapes "
        "allow, the same sentences in the same order, the same words hidden.",
        "Say first which will do better on sentences it has not seen. Then train both.",
    )


def words(course: Course, at: int) -> Cell:
    """Both networks' likeliest words; of a recorded training at all its moments."""
    if course.recorded:
        return replayed(course)
    moment, ((first, _), (second, _)) = course.moments[at], _labels(course)
    sentence = (
        f"{quoted(moments.as_read(moment[0].text))} {first} says "
        f"{number(f'“{moment[0].words[0]}”')}{stop()} {second} says {quoted(moment[1].words[0])}."
    )
    head, panels = Head(sentence, "learn-words", "relu"), _bars(course, moment)
    return bars_cell(head, panels, key=f"{NAME}-words", leads=True)


def _bars(course: Course, moment: Moment) -> list[Bars]:
    return [
        Bars(label, record.words, np.array(record.probabilities), colour)
        for (label, colour), record in zip(_labels(course), moment, strict=True)
    ]


def replayed(course: Course) -> Cell:
    """The likeliest words of a recorded training, with a slider over its moments."""
    text, n = course.moments[0][0].text, course.steps
    sentence = f"Recorded: two networks learn to fill in {quoted(moments.as_read(text))}."
    frames = []
    for moment in course.moments:
        both = ", ".join(f"{record.held_out.loss:.2f}" for record in moment)
        said = f"step {moment[0].step:,} of {n:,}: loss {both}"
        frames.append((said, _bars(course, moment)))
    return replay_cell(Head(sentence, "learn-words", "relu"), frames, f"{NAME}-words", leads=True)


def losses(course: Course, at: int) -> Cell:
    """Both losses on unseen sentences."""
    moment, labels = course.moments[at], _labels(course)
    first, second = (record.held_out for record in moment)
    sentence = (
        f"{labels[0][0]}'s loss on unseen sentences is {number(f'{first.loss:.2f}')} nats, "
        f"{labels[1][0]}'s {second.loss:.2f}; the word is among their five likeliest in "
        f"{percent(first.top5)} and {percent(second.top5)} of the sentences."
    )
    figure = moments.loss_curves(course, at, [(label, f"@{colour}") for label, colour in labels])
    alt = "Both losses on held-out sentences, step after step, and that of guessing by frequency."
    head = Head(sentence, "learn-loss", "relu")
    return chart_cell(head, figure, alt, key=f"{NAME}-loss", height=420)


def winner(course: Course) -> str:
    """The bet that is won: "first", "second", or "same" if the losses differ by less than ALIKE."""
    first, second = (record.held_out.loss for record in course.moments[-1])
    return "same" if abs(first - second) < ALIKE else "first" if first < second else "second"


def verdict(course: Course) -> Cell:
    """Who was better, and that one run cannot decide it."""
    first, second = (record.held_out.loss for record in course.moments[-1])
    labels, better = [label for label, _ in _labels(course)], winner(course)
    result = f"{labels[better == 'second']} ends {abs(first - second):.3f} nats lower."
    if better == "same":
        result = f"No difference to be seen: {first:.3f} and {second:.3f} nats."
    return text_cell(
        f"{NAME}-verdict",
        strong(result),
        "One run cannot decide it: another seed, with other initial weights and another order of "
        "the sentences, may reverse a small difference. Choose another seed and start again, "
        "or see what many seeds say.",
    )


def decided(course: Course) -> Cell:
    """What longer trainings of many seeds, each network at its own rate, say of the same two."""
    name = course.moments[0][1].name
    label, key = VARIANTS[name].label, f"{NAME}-decided"
    answered = compare_trainings().of(name)
    if answered is None or answered.pairs is None:
        return text_cell(key, f"{label} has not been trained from many seeds yet.")
    head = Head(difference(answered, label), "lab-trainings", "relu", under=EACH)
    return trainings_chart(head, [answered], key)


def _labels(course: Course) -> list[tuple[str, str]]:
    """The label and the colour of each network that was trained."""
    return [
        (VARIANTS[record.name].label, colour)
        for record, colour in zip(course.moments[0], ("relu", "gelu"), strict=True)
    ]
