"""Direct logit attribution: one word's logit as the sum of what each part wrote."""

from dataclasses import replace

from ffnviz.analysis.prediction import predict
from ffnviz.analysis.vocabulary.lens import contributions
from ffnviz.figures.vocabulary.lens import waterfall
from ffnviz.figures.wording import Sentence, number, quoted, signed
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting

# The word's place among the likeliest.
WORD = count_setting("parts_word", 0, 0, 9, also=("word",)).with_control("Word")


def sheet(run: Run, values: Values) -> Sheet:
    """The words to choose from, and the waterfall of the chosen one."""
    likeliest = predict(run.model, run.trace, run.token)
    place = min(values[WORD], len(likeliest.words) - 1)
    logit = contributions(run.model, run.trace, run.token, int(likeliest.ids[place]))
    most, total = int(logit.added.argmax()), float(logit.added.sum())
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]), f" the logit of {likeliest.words[place]} gets most "
        "from ", number(logit.parts[most]), f" ({signed(logit.added[most])}). The parts sum to "
        f"{total:.4f}; the network's logit is {logit.logit:.4f}.",
    ]  # fmt: skip
    chart = chart_cell(
        Head(sentence, "parts", run.card.colour, under=under_guess(run)),
        waterfall(logit.parts, logit.added, logit.logit, run.card.colour),
        "What each part of the network added to the logit of the chosen word.",
        height=640,
    )
    return Sheet([row(chart)], [replace(WORD, options=dict(enumerate(likeliest.words)))])
