"""How the prediction forms: the stream read after the embedding, each attention, each FFN."""

import numpy as np
import streamlit as st

from ffnviz.analysis.vocabulary.lens import Reading, largest_gain, read_early
from ffnviz.figures.vocabulary import lens as figures
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.parts.guess import under_guess
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

WORDS = 5
MOST = 13  # rows that can be read; of more stages, those behind FFNs, evenly spread


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """The table of words beside the final word's way up."""
    word = int(run.trace.logits_at(run.token).argmax())
    readings = read_early(run.model, run.trace, run.token, word, WORDS)
    name = run.model.tokenizer.label(word)
    table, way = st.columns([1.7, 1], gap="medium")
    with table:
        early_words(run, readings, name)
    with way:
        way_of_the_word(run, readings, name)


def early_words(run: Run, readings: list[Reading], name: str) -> None:
    """The likeliest words at each stage."""
    shown = rows_shown(readings)
    first = next(r for r in readings if r.prediction.words[0] == readings[-1].prediction.words[0])
    sentence: Sentence = [
        "Decoded early, the stream at ", quoted(run.labels[run.token]), " first predicts ",
        number(name), " after ", number(first.stage), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "lens", run.card.colour, under=under_guess(run)),
        figures.early_words(
            [reading.stage for reading in shown],
            [reading.prediction.words for reading in shown],
            np.array([reading.prediction.probabilities for reading in shown]),
            run.card.colour,
        ),
        "The five likeliest words read off the stream after each part of the network.",
        run.stamp,
        key="lens",
        height=660,
    )


def rows_shown(readings: list[Reading]) -> list[Reading]:
    """As many as can be read, the first and the last among them."""
    if len(readings) <= MOST:
        return readings
    start, *rest = readings
    after_ffns = [reading for reading in rest if reading.stage.startswith("FFN")]
    places = np.linspace(0, len(after_ffns) - 1, min(MOST - 1, len(after_ffns)))
    return [start, *(after_ffns[round(place)] for place in places)]


def way_of_the_word(run: Run, readings: list[Reading], name: str) -> None:
    """The final word's probability and rank at each stage."""
    start, end = readings[0], readings[-1]
    before, most = largest_gain(readings)
    shown = readings if len(readings) <= 2 * MOST else rows_shown(readings)
    sentence: Sentence = [
        number(name), f" climbs from rank {start.rank:,} at the embedding to ",
        number(f"rank {end.rank:,}"), " at the end; in this sentence it gains most by ",
        number(most.stage), f": from {percent(before.probability)} to {percent(most.probability)}.",
    ]  # fmt: skip
    chart(
        Head(sentence, "followed", run.card.colour),
        figures.followed(
            [reading.stage for reading in shown],
            np.array([reading.probability for reading in shown]),
            [reading.rank for reading in shown],
            run.card.colour,
        ),
        "The probability and the rank of the final word after each part of the network.",
        run.stamp,
        key="followed",
        height=660,
    )
