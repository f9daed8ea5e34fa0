"""Logit lens: the stream read after the embedding, each attention, each FFN."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ffnviz.analysis.lens import Reading, contributions, largest_gain, read_early
from ffnviz.analysis.prediction import predict
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell, contributions_to
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure, axis, escaped, figure, heatmap, shortened
from ffnviz.pictures.wording import number, percent, quoted, signed
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting

# The word's place among the likeliest.
WORD = count_setting("parts_word", 0, 0, 9, also=("word",)).with_control("Word")


def attribution_sheet(run: Run, values: Values) -> Sheet:
    """What each part of the network adds to the chosen word's logit."""
    likeliest = predict(run.model, run.trace, run.token)
    place = min(values[WORD], len(likeliest.words) - 1)
    logit = contributions(run.model, run.trace, run.token, int(likeliest.ids[place]))
    most, total = int(logit.added.argmax()), float(logit.added.sum())
    sentence = (
        f"At {quoted(run.labels[run.token])} the logit of {quoted(likeliest.words[place])} gets "
        f"most from {number(logit.parts[most])} ({signed(logit.added[most])}). The parts sum to "
        f"{total:.4f}; the network's logit is {logit.logit:.4f}."
    )
    head, colour = Head(sentence, "parts", run.card.colour, under=under_guess(run)), run.card.colour
    panels = [contributions_to("logit", logit.parts, logit.added, logit.logit, colour)]
    alt = "What each part of the network added to the logit of the chosen word."
    chart = bars_cell(head, panels, alt=alt, of="added to the logit", named="part")
    return Sheet([row(chart)], [replace(WORD, options=dict(enumerate(likeliest.words)))])


TWO_LINES = 8  # rows that have room for two lines each


def early_words_figure(readings: Sequence[Reading], twin: str) -> Figure:
    """A row a stage, the likeliest words from left to right, darker the likelier."""
    stages, guesses = [each.stage for each in readings], [each.prediction for each in readings]
    apart = "<br>" if len(stages) <= TWO_LINES else "  "
    text = [
        [
            f"{escaped(shortened(word))}{apart}<b>{escaped(percent(float(p)))}</b>"
            for word, p in zip(guess.words, guess.probabilities, strict=True)
        ]
        for guess in guesses
    ]
    probabilities = np.array([guess.probabilities for guess in guesses])
    return figure(
        [heatmap(
            "likeliest words", 100 * probabilities, 0, 100, text=text, texttemplate="%{text}",
            x=np.arange(1, probabilities.shape[1] + 1), y=stages, xgap=3, ygap=3,
            meta={"labels": [list(guess.words) for guess in guesses], "named": "stage"},
            textfont={"size": 18, "color": "@text"}, showscale=False, hoverinfo="none",
            # Never so dark that the words on it could not be read.
            colorscale=[[0, f"@{twin}/0"], [0.1, f"@{twin}/0.25"], [1, f"@{twin}/0.55"]],
        )],
        axis("place among the likeliest", dtick=1, showgrid=False),
        axis("", autorange="reversed", showgrid=False),
        margin={"l": 116, "r": 10, "t": 10, "b": 50},
    )  # fmt: skip


WORDS = 5
MOST = 13  # rows that can be read; of more stages, the last of each block, evenly spread


def sheet(run: Run, _: Values) -> Sheet:
    """The table of words beside the rise of the final word."""
    word = int(run.trace.logits_at(run.token).argmax())
    readings = read_early(run.model, run.trace, run.token, word, WORDS)
    name = run.model.tokenizer.label(word)
    cells = early_words(run, readings, name), way_of_the_word(run, readings, name)
    return Sheet([row(*cells, widths=(1.7, 1))])


def early_words(run: Run, readings: list[Reading], name: str) -> Cell:
    """The likeliest words at each stage."""
    first = next(r for r in readings if r.prediction.words[0] == readings[-1].prediction.words[0])
    after = "the embedding" if first is readings[0] else first.stage
    sentence = (
        f"The stream at {quoted(run.labels[run.token])}, decoded early, first predicts "
        f"{number(f'“{name}”')} after {after}."
    )
    head = Head(sentence, "lens", run.card.colour, under=under_guess(run))
    drawn = early_words_figure(rows_shown(readings), run.card.colour)
    alt = "The five likeliest words decoded from the stream after each part of the network."
    return chart_cell(head, drawn, alt, height=660)


def rows_shown(readings: list[Reading]) -> list[Reading]:
    """As many readings as are legible, the first and the last among them."""
    if len(readings) <= MOST:
        return readings
    start, *rest = readings
    after_blocks = list({each.stage.rpartition(" ")[2]: each for each in rest}.values())
    places = np.linspace(0, len(after_blocks) - 1, min(MOST - 1, len(after_blocks)))
    return [start, *(after_blocks[round(place)] for place in places)]


def way_of_the_word(run: Run, readings: list[Reading], name: str) -> Cell:
    """The final word's probability and rank at each stage."""
    start, end = readings[0], readings[-1]
    before, most = largest_gain(readings)
    shown = readings if len(readings) <= 2 * MOST else rows_shown(readings)
    climbs = f"climbs from rank {start.rank:,} at the embedding to {number(f'rank {end.rank:,}')}"
    if start.rank == end.rank:
        climbs = f"has {number(f'rank {end.rank:,}')} at the embedding and"
    sentence = (
        f"{quoted(name)} {climbs} at the end; {most.stage} multiplies its probability most: from "
        f"{percent(before.probability)} to {percent(most.probability)}."
    )
    ranks = [f"rank {reading.rank:,}" for reading in shown]
    shares = np.array([reading.probability for reading in shown])
    panels = [Bars("", [each.stage for each in shown], shares, run.card.colour, said=ranks)]
    alt = "The probability and the rank of the final word after each part of the network."
    return bars_cell(Head(sentence, "followed", run.card.colour), panels, alt=alt, named="stage")
