"""Delete the bend: the FFN without φ, and what the network says then."""

import numpy as np
import streamlit as st

from ffnviz.analysis.lab.bend_deleted import (
    WITHOUT_PHI,
    WithoutPhi,
    ablation_loss,
    fold,
    remove_phi,
)
from ffnviz.analysis.number_format import short
from ffnviz.figures.lab.curves import lines
from ffnviz.figures.layout import axis
from ffnviz.figures.wording import Sentence, number, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.parts.guess import under_guess
from ffnviz.parts.lab.subject import cached_result, experiment_subject, show_verdicts, tally
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """The verdicts and the folded matrix, beside four predictions."""
    subject = experiment_subject(run)
    folded = run.subject.per_network(f"folded {run.state.block}", lambda: fold(subject.double.ffn))
    loss = run.subject.per_network("worth of φ", lambda: ablation_loss(subject.ours))
    found = cached_result(
        run, "bend deleted", lambda subject: remove_phi(subject, folded=folded, loss=loss)
    )
    left, right = st.columns([1, 2], gap="medium")
    with left:
        show_verdicts(
            run, Head(tally(found.findings), "lab-bend", run.card.colour), found.findings, ""
        )
        spectrum(run, found)
    with right:
        predictions(run, found)


def predictions(run: Run, found: WithoutPhi) -> None:
    """What the network says as it is, without φ, without FFNs, without attention."""
    sentence: Sentence = [
        "Without φ in any block the network says ",
        number(found.predictions[WITHOUT_PHI].words[0]), " at ", quoted(run.labels[run.token]),
        " instead of ", number(found.plain.words[0]), ": ",
        number(f"{short(found.divergences[WITHOUT_PHI])} nats"), " apart.",
    ]  # fmt: skip
    accent = f"@{run.card.colour}"
    panels = [Words("as it is", found.plain.words, found.plain.probabilities, accent)]
    panels += [
        Words(f"{name}<br>{short(found.divergences[name])} nats", told.words, told.probabilities,
              "@text" if name == WITHOUT_PHI else "@muted")
        for name, told in found.predictions.items()
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-without", run.card.colour, under=under_guess(run)),
        word_bars(panels),
        "The likeliest words as it is, without φ, without any FFN and without any attention.",
        run.stamp,
        key="lab-without",
        height=640,
    )


def spectrum(run: Run, found: WithoutPhi) -> None:
    """The folded matrix's singular values."""
    values = found.singular
    sentence: Sentence = [
        "The one matrix left has ", number(f"rank {found.rank} of {len(values)}"), ".",
    ]  # fmt: skip
    every = max(1, len(values) // 64)
    places = np.arange(0, len(values), every)
    chart(
        Head(sentence, "lab-folded", run.card.colour),
        lines(
            places + 1,
            {"W₁W₂": (values[places], f"@{run.card.colour}", "solid")},
            axis("number"), axis("singular value", rangemode="tozero"),
            margin={"l": 70, "r": 16, "t": 10, "b": 56},
        ),
        "The singular values of the folded matrix.",
        run.stamp,
        key="lab-folded",
        height=210,
    )  # fmt: skip
