"""Direct logit attribution: one word's logit as the sum of what each part wrote."""

from dataclasses import replace

from ffnviz.analysis.prediction import predict
from ffnviz.analysis.vocabulary.lens import contributions
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.bars import bars_cell, contributions_to
from ffnviz.pictures.cell import Head
from ffnviz.pictures.wording import Sentence, number, quoted, signed
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting

# The word's place among the likeliest.
WORD = count_setting("parts_word", 0, 0, 9, also=("word",)).with_control("Word")


def sheet(run: Run, values: Values) -> Sheet:
    """What each part of the network adds to the chosen word's logit."""
    likeliest = predict(run.model, run.trace, run.token)
    place = min(values[WORD], len(likeliest.words) - 1)
    logit = contributions(run.model, run.trace, run.token, int(likeliest.ids[place]))
    most, total = int(logit.added.argmax()), float(logit.added.sum())
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]), f" the logit of {likeliest.words[place]} gets most "
        "from ", number(logit.parts[most]), f" ({signed(logit.added[most])}). The parts sum to "
        f"{total:.4f}; the network's logit is {logit.logit:.4f}.",
    ]  # fmt: skip
    chart = bars_cell(
        Head(sentence, "parts", run.card.colour, under=under_guess(run)),
        [contributions_to("logit", logit.parts, logit.added, logit.logit, run.card.colour)],
        alt="What each part of the network added to the logit of the chosen word.",
        of="added to the logit",
        named="part",
    )
    return Sheet([row(chart)], [replace(WORD, options=dict(enumerate(likeliest.words)))])
