"""Who added what: one word's logit as the sum of what each part wrote."""

import streamlit as st

from ffnviz.analysis.prediction import predict
from ffnviz.analysis.vocabulary.lens import contributions
from ffnviz.figures.vocabulary.lens import waterfall
from ffnviz.figures.wording import Sentence, number, quoted, signed
from ffnviz.parts.guess import under_guess
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import count_setting

WORD = count_setting("parts_word", 0, 0, 9, also=("word",))  # its place among the likeliest


@live
def render(run: Run, navigator: Navigator) -> None:
    """The words to choose from over the waterfall of the chosen one."""
    told = predict(run.model, run.trace, run.token)
    place = min(navigator.value(WORD), len(told.words) - 1)
    st.segmented_control(
        "Word", range(len(told.words)), required=True, label_visibility="collapsed",
        format_func=lambda place: told.words[place], **navigator.widget(WORD),
    )  # fmt: skip
    found = contributions(run.model, run.trace, run.token, int(told.ids[place]))
    most = int(found.added.argmax())
    total = float(found.added.sum())
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]), " the logit of ", number(told.words[place]),
        " gets most from ", number(found.parts[most]), " (", number(signed(found.added[most])),
        f"). The parts sum to {total:.4f}; the network said ", number(f"{found.logit:.4f}"), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "parts", run.card.colour, under=under_guess(run)),
        waterfall(found.parts, found.added, found.logit, run.card.colour),
        "What each part of the network added to the logit of the chosen word.",
        f"{run.stamp} {place}",
        key="parts",
        height=640,
    )
