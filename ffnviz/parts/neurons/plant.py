"""Plant a memory: one neuron more, that wakes here and says a word of your own."""

import numpy as np
import streamlit as st

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.plant import (
    LONGEST_WORD,
    Planted,
    PlantError,
    output_with,
    plant,
    values_of,
    word_id,
)
from ffnviz.analysis.neurons.plant_spread import PlantSpread, spread
from ffnviz.analysis.neurons.probes import read_probes
from ffnviz.analysis.prediction import likeliest, predict
from ffnviz.analysis.sparsity.awake import active, threshold_for
from ffnviz.analysis.spread import Progress
from ffnviz.figures.neurons import neuron as figures
from ffnviz.figures.wording import Sentence, number, percent, quoted, signed
from ffnviz.figures.words import Words, word_bars
from ffnviz.parts.guess import under_guess
from ffnviz.parts.measurement import on_request
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.passages import Passage, passages
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.actions import ChooseToken, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import number_setting, text_setting

STRENGTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0)
CHOOSY = tuple(place / 20 for place in range(20))
WORD = text_setting("plant", "moon", LONGEST_WORD, room=6 * LONGEST_WORD)
STRENGTH = number_setting("strength", 1.5, STRENGTHS[0], STRENGTHS[-1])
CHOOSINESS = number_setting("choosy", 0.7, CHOOSY[0], CHOOSY[-1])
SETTINGS = (WORD, STRENGTH, CHOOSINESS)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The word and the sliders; what is said now; where else the neuron wakes."""
    controls, words, elsewhere = st.columns([0.8, 1, 1.1], gap="medium")
    with controls:
        planted = what_to_plant(run, navigator)
        if planted is None:
            return
        measured = on_other_sentences(run, navigator)
    with words:
        before_and_after(run, navigator, planted)
    with elsewhere:
        on_this_sentence(run, navigator, planted)
        if measured is not None:
            where_else(run, navigator, measured)


def what_to_plant(run: Run, navigator: Navigator) -> Planted | None:
    """The controls, and the neuron they make; None, with a message, if the word is none."""
    st.text_input(
        "A word for the new neuron to say", placeholder="moon", autocomplete="off",
        **navigator.widget(WORD),
    )  # fmt: skip
    try:
        word_id(run.model, navigator.value(WORD))
    except PlantError as error:
        st.warning("This word cannot be planted.")
        st.text(str(error))  # with what was typed: no markup
        return None
    strength, choosiness = navigator.value(STRENGTH), navigator.value(CHOOSINESS)
    slider(
        "strength, in lengths of what the FFN writes here",
        [f"{stop:g}×" for stop in STRENGTHS],
        nearest(STRENGTHS, strength),
        key="plant-strength",
        on_choose=lambda stop, done: navigator.choose(STRENGTH, STRENGTHS[stop], done),
    )
    if run.model.ffn(run.state.block).key_bias is None:
        st.markdown("This FFN has no biases, so the new neuron wakes at whatever is a little like "
                   "its token.")  # fmt: skip
    else:
        slider(
            "wakes where an input is like this one by more than",
            [percent(stop) for stop in CHOOSY],
            nearest(CHOOSY, choosiness),
            key="plant-choosy",
            on_choose=lambda stop, done: navigator.choose(CHOOSINESS, CHOOSY[stop], done),
        )
    if navigator.state().settings:
        st.button("Back to the start", on_click=navigator.do,
                  args=(Set({setting.name: None for setting in SETTINGS}),))  # fmt: skip
    return planted_now(run, *chosen(navigator))


def chosen(navigator: Navigator) -> tuple[str, float, float]:
    """The word, the strength and the choosiness that are set."""
    return navigator.value(WORD), navigator.value(STRENGTH), navigator.value(CHOOSINESS)


def planted_now(run: Run, word: str, strength: float, choosiness: float) -> Planted:
    """The neuron for the chosen token."""
    entry = word_id(run.model, word)
    return plant(run.model, run.trace, run.state.block, run.token, entry, strength, choosiness)


def before_and_after(run: Run, navigator: Navigator, planted: Planted) -> None:
    """The ten likeliest words without the neuron and with it."""
    model, trace, block = run.model, run.whole, run.state.block
    told = predict(model, trace, run.place)
    rows = model.stream_with(trace, block, output_with(trace, block, planted))
    logits = model.logits(rows[run.place])
    after = likeliest(model, logits, 10)
    was, now = (
        float(each.float().softmax(dim=-1)[planted.word])
        for each in (trace.logits_at(run.place), logits)
    )
    sentence: Sentence = [
        f"One neuron more in block {block + 1}, and ", number(model.tokenizer.label(planted.word)),
        " goes from ", number(percent(was)), " to ", number(percent(now)), " at ",
        quoted(run.labels[run.token]), ".",
    ]  # fmt: skip
    d_ff = model.sizes.d_ff
    chart(
        Head(sentence, "planted", run.card.colour, under=under_guess(run)),
        word_bars([
            Words(f"{d_ff:,} neurons", told.words, told.probabilities, f"@{run.card.colour}"),
            Words(f"{d_ff + 1:,} neurons", after.words, after.probabilities, "@muted"),
        ]),
        "The ten likeliest words without the planted neuron and with it.",
        f"{run.stamp} {chosen(navigator)}",
        key="planted-words",
        height=640,
    )  # fmt: skip


def on_this_sentence(run: Run, navigator: Navigator, planted: Planted) -> None:
    """Its activation on every token."""
    values = values_of(run.trace, run.state.block, planted).float().cpu().numpy()
    threshold = threshold_for(run.card.phi)
    others = int(active(np.delete(values, run.token), threshold).sum())
    sentence: Sentence = ["Made for ", quoted(run.labels[run.token])]
    if len(values) > 1:
        among = f"{others} of the {len(values) - 1} other tokens"
        sentence += [", it also wakes on ", number(among), " here."]
    else:
        sentence += [", the only token here, it wakes at ", number(signed(values[0])), "."]
    chart(
        Head(sentence, "planted-here", run.card.colour),
        figures.values(run.labels, values, run.token, run.card.colour, threshold),
        "The planted neuron's activation on each token of the sentence.",
        f"{run.stamp} {chosen(navigator)}",
        key="planted-here",
        height=270,
        on_choose=lambda token: navigator.do(ChooseToken(token)),
    )


def on_other_sentences(run: Run, navigator: Navigator) -> PlantSpread | None:
    """The button, and the last result if it is of the neuron shown."""
    if not run.card.has_mask:
        st.markdown(f"On other sentences nothing can be measured. {Capability.MASK.value}")
        return None
    setup = (run.card.id, run.device, run.state.sentence, run.state.block, run.token,
          *chosen(navigator))  # fmt: skip
    measured = on_request(
        "plant", setup, run, measure, *chosen(navigator),
        label="Try it on other sentences", doing="Reading other sentences …",
    )  # fmt: skip
    if measured is None or measured.setup != setup:
        st.markdown("How far does it spread? All probe sentences, with one word in five hidden.")
        return None
    found: PlantSpread = measured.result
    worse = f"{found.loss.worse:+.4f} ± {found.loss.error:.4f}".replace("-", "−")
    st.markdown(
        f"Of {len(found.loss.plain):,} masked tokens in other sentences its word is the likeliest "
        f"at **{found.said_after:,}**; without it, at {found.said_before:,}. The loss there goes "
        f"from {found.loss.plain.mean():.3f} to **{found.loss.edited.mean():.3f}** nats: "
        f"**{worse}** (standard error of the paired differences)."
    )
    return found


def measure(
    run: Run, progress: Progress, word: str, strength: float, choosiness: float
) -> PlantSpread:
    """The probe sentences without it and with it."""
    probes = run.subject.per_network("probes", read_probes)
    planted = planted_now(run, word, strength, choosiness)
    threshold = threshold_for(run.card.phi)
    return spread(run.model, probes, run.state.block, planted, threshold, progress)


def where_else(run: Run, navigator: Navigator, found: PlantSpread) -> None:
    """The tokens of other sentences that wake it most."""
    sentence: Sentence = [
        "In other sentences it wakes on ", number(percent(found.awake / found.n_tokens)),
        f" of {found.n_tokens:,} tokens",
        "; most of all on these." if found.strongest else ".",
    ]  # fmt: skip
    passages(
        Head(sentence, "planted-elsewhere", run.card.colour),
        [Passage(signed(w.value), w.before, w.at, w.after) for w in found.strongest],
        f"{run.stamp} {chosen(navigator)}",
        key="planted-elsewhere",
    )
