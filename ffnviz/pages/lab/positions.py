"""Position-wise: change, delete or shuffle tokens, and see who notices."""

import streamlit as st

from ffnviz.analysis.lab.positions import WAYS, Positions, try_positions
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.figures.lab.maps import Map, maps
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.numbers import short
from ffnviz.page import Navigator, live
from ffnviz.pages.lab.subject import show_verdicts, subject_of, tally
from ffnviz.run import Run
from ffnviz.settings import choice_setting

TITLES = {
    "change": "Change each token in turn",
    "delete": "Delete each token in turn",
    "shuffle": "Shuffle all tokens",
}
WAY = choice_setting("way", {way: TITLES[way] for way in WAYS})
SETTINGS = (WAY,)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The verdicts beside the two maps."""
    way = navigator.value(WAY)
    found = try_positions(subject_of(run), way)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.segmented_control("What is done", required=True, label_visibility="collapsed",
                             **navigator.options(WAY))  # fmt: skip
        show_verdicts(
            run, Head(tally(found.findings), "lab-positions", run.card.colour), found.findings, way
        )
    with right:
        two_maps(run, found, way)


def two_maps(run: Run, found: Positions, way: str) -> None:
    """The FFN's map beside the attention's."""
    labels = run.labels[: found.ffn.shape[1]]
    rows = ["moved"] if way == "shuffle" else labels
    shown = [
        Map("at the FFN's input", found.ffn, f"@{run.card.colour}", rows, labels),
        Map("at the attention's input", found.attention, "@positive_mid", rows, labels),
    ]
    others = [(each > 0).sum() - (way == "change") * (each.diagonal() > 0).sum()
              for each in (found.ffn, found.attention)]  # fmt: skip
    sentence: Sentence = {
        "change": ["A row is the token that was changed: the FFN changes ",
                   number(f"{others[0]} outputs of other tokens"), ", attention ",
                   number(f"{others[1]}"), "."],
        "delete": ["A row is the token that was deleted: the FFN's other outputs move by up to ",
                   number(_most(found, 0)), ", attention's by ", number(_most(found, 1)), "."],
        "shuffle": ["After the shuffle each token's FFN output is off by up to ",
                    number(_most(found, 0)), ", its attention output by ",
                    number(_most(found, 1)), ": both follow the tokens."],
    }[way]  # type: ignore[assignment]  # fmt: skip
    chart(
        Head(sentence, "lab-maps", run.card.colour),
        maps(shown, 2, "of its length", ("done to", "seen at")),
        "How far each token's output moves, for the FFN and for attention.",
        f"{run.stamp} {way}",
        key="lab-positions",
        height=620 if way != "shuffle" else 300,
    )


def _most(found: Positions, which: int) -> str:
    values = (found.ffn, found.attention)[which]
    largest = float(values[values == values].max(initial=0))
    if largest == 0:
        return "exactly 0"
    return percent(largest) if largest > 1e-4 else f"{short(largest, 1)} of its length"
