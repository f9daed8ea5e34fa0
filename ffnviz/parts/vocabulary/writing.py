"""Write on: words are appended one at a time, and each step can be looked into."""

import numpy as np
import streamlit as st

from ffnviz.analysis.vocabulary.decoding import Strategy, distribution
from ffnviz.analysis.vocabulary.writing import Writing, begin, logits_before, no_text, write_word
from ffnviz.figures.vocabulary.writing import steps
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.parts.guess import under_guess
from ffnviz.parts.part import Navigator, live
from ffnviz.parts.vocabulary.strategy import controls, strategy
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.actions import Type
from ffnviz.state.run import Run
from ffnviz.state.settings import count_setting

MOST = 128
WORDS = count_setting("words", 6, 0, MOST)
STEP = count_setting("step", 0, 0, MOST)  # from 1; 0 is the last
MANY = 10
SO_FAR = "written-so-far"
BARS = 10


@live
def render(run: Run, navigator: Navigator) -> None:
    """The controls beside the text, its words, and one step's choice."""
    how = strategy(navigator)
    if run.card.causal and not run.state.sentence.strip():
        st.info("This network goes on from a word. Type one first.")
        return
    written = write(run, how, navigator.value(WORDS))
    set_, text = st.columns([0.8, 2.6], gap="medium")
    with set_:
        controls(navigator, "write")
        buttons(written, navigator)
    with text:
        the_text(run, written, how, navigator)


def write(run: Run, how: Strategy, n_words: int) -> Writing:
    """The text with so many words behind it; what was written before is not computed again."""
    setup = (run.card.id, run.state.sentence, run.device, how)
    kept_of, kept = st.session_state.get(SO_FAR, (None, None))
    fits = kept_of == setup and len(kept.steps) <= n_words
    written: Writing = kept if fits else begin(run.model, run.state.sentence)
    missing = n_words - len(written.steps)
    bar = st.progress(0.0, f"Writing {missing} words …") if missing > MANY else None
    for done in range(missing):
        written = write_word(run.model, written, how)
        if bar is not None:
            bar.progress((done + 1) / missing)
    if bar is not None:
        bar.empty()
    st.session_state[SO_FAR] = setup, written
    return written


def buttons(written: Writing, navigator: Navigator) -> None:
    """Write, begin again, take over."""

    def write_more(n: int) -> None:
        navigator.choose(WORDS, min(MOST, len(written.steps) + n))
        navigator.choose(STEP, 0)

    def take_over() -> None:
        navigator.do(Type(written.text))
        start_over()

    def start_over() -> None:
        navigator.choose(WORDS, 0)
        navigator.choose(STEP, STEP.default)

    with st.container(horizontal=True):
        st.button("Write a word", on_click=write_more, args=(1,), disabled=written.full)
        st.button(f"Write {MANY}", on_click=write_more, args=(MANY,), disabled=written.full)
        st.button("Use as my sentence", on_click=take_over, disabled=not written.steps)
        st.button("Start over", on_click=start_over, disabled=not written.steps)
    if written.full:
        st.markdown("The network reads no more than this; start over, or shorten the sentence.")


def the_text(run: Run, written: Writing, how: Strategy, navigator: Navigator) -> None:
    """What is written, its words as bars, and the choice behind one of them."""
    if not written.steps:
        how_it_writes = (
            "a [MASK] is put behind your sentence and filled. If the sentence ends with [MASK], "
            "that one is filled."
            if run.card.has_mask
            else "the network says which word comes next, reads it too, and goes on from there."
        )
        st.info(f"Press “Write a word”: {how_it_writes}")
        return
    looked_at = min(navigator.value(STEP) or len(written.steps), len(written.steps)) - 1
    chart(
        Head([quoted(written.start), " ", number(written.written.strip())], "write",
             run.card.colour),
        steps([step.word for step in written.steps],
              np.array([step.probability for step in written.steps]), looked_at, run.card.colour),
        "The probability of each written word.",
        f"{run.stamp} {how} {len(written.steps)} {looked_at}",
        key="written",
        height=270,
        on_choose=lambda step: navigator.choose(STEP, step + 1),
    )  # fmt: skip
    one_step(run, written, how, looked_at)


def one_step(run: Run, written: Writing, how: Strategy, place: int) -> None:
    """The distribution one word was picked from."""
    step = written.steps[place]
    told = distribution(logits_before(run.model, written, place), how, no_text(run.model))
    first = told.order[:BARS]
    words = [run.model.tokenizer.label(int(entry)) for entry in first]
    rank = int((told.order == step.id).argmax()) + 1
    sentence: Sentence = [
        f"Word {place + 1}, ", number(f"“{step.word.strip() or '␣'}”"), ", had ",
        number(percent(step.probability)), f" and was number {rank:,} of the {step.n_kept:,} words "
        f"kept; before the cut the entropy was {step.entropy:.1f} bits.",
    ]  # fmt: skip
    chart(
        Head(sentence, "step", run.card.colour, under=under_guess(run, warn=False)),
        word_bars([
            Words("softmax", words, told.softmax[first], "@muted"),
            Words("after the cut", words, told.cut[first], f"@{run.card.colour}"),
        ]),
        "The ten likeliest words at this step, before the cut and after it.",
        f"{run.stamp} {how} {place}",
        key="step",
        height=370,
    )  # fmt: skip
