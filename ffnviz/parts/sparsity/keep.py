"""The strongest few: what they carry, and what is said when the rest is put to sleep."""

import streamlit as st

from ffnviz.analysis.prediction import predict
from ffnviz.analysis.sparsity.keep import Kept, concentration, keep_random, keep_strongest
from ffnviz.figures.sparsity import keep as figures
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.parts.guess import under_guess
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import number_setting

STOPS = (0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100)
KEPT = number_setting("keep", 5, STOPS[0], STOPS[-1])


@live
def render(run: Run, navigator: Navigator) -> None:
    """The curve and its slider beside what the network then says."""
    share = navigator.value(KEPT) / 100
    curve, words = st.columns([1, 1.5], gap="medium")
    with curve:
        what_they_carry(run, share)
        slider(
            "Keep the strongest; put the rest to sleep",
            [f"{stop:g}%" for stop in STOPS],
            nearest(STOPS, 100 * share, by_ratio=True),
            key="keep",
            on_choose=lambda stop, done: navigator.choose(KEPT, STOPS[stop], done),
        )
    with words:
        what_is_said(run, share)


def what_they_carry(run: Run, share: float) -> None:
    """The share of the written norms that the strongest neurons carry."""
    block = run.state.block
    curves = {
        traced.card: concentration(traced.network, traced.trace, run.block_of(traced)).shares
        for traced in run.both
    }
    carried = [
        part
        for traced, shares in curves.items()
        for part in (number(percent(shares[_count(share, len(shares)) - 1]), traced.colour),
                     f" of what {traced.label} writes", " and ")
    ][:-1]  # fmt: skip
    sentence: Sentence = [
        f"The strongest {100 * share:g}% of block {block + 1}'s neurons carry ",
        *carried, ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "concentration", "text"),
        figures.concentration(curves, share),
        "The share of what the FFN writes, carried by the strongest neurons, of each network.",
        f"{run.stamp} {share}",
        key="concentration",
        height=600,
    )


def what_is_said(run: Run, share: float) -> None:
    """The likeliest words with all neurons, the strongest, and as many random ones."""
    block, token, accent = run.state.block, run.token, run.card.colour
    n = _count(share, run.model.sizes.d_ff)
    told = predict(run.model, run.trace, token)
    strongest = keep_strongest(run.model, run.whole, block, run.place, n)
    random = keep_random(run.model, run.whole, block, run.place, n)
    sentence: Sentence = [
        "With only each token's ", number(f"{n:,} strongest neurons"), " the FFN's output at ",
        quoted(run.labels[token]), " is off by ", number(percent(strongest.error)),
        "; with as many random ones, by ", number(percent(random.error)), ".",
    ]  # fmt: skip
    panels = [
        Words("all neurons", told.words, told.probabilities, f"@{accent}"),
        _panel(f"strongest {n:,}", strongest, "@text"),
        _panel(f"random {n:,}", random, "@muted"),
    ]
    chart(
        Head(sentence, "keep", accent, under=under_guess(run)),
        word_bars(panels),
        "The ten likeliest words with all neurons, with the strongest, and with random ones.",
        f"{run.stamp} {share}",
        key="keep-words",
        height=680,
    )


def _panel(title: str, kept: Kept, colour: str) -> Words:
    title = f"{title}<br>off by {percent(kept.error)}"
    return Words(title, kept.prediction.words, kept.prediction.probabilities, colour)


def _count(share: float, d_ff: int) -> int:
    return max(1, round(share * d_ff))
