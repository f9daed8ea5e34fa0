"""Name it: a guess what a neuron stands for, put to the test on sentences held back."""

import re
from dataclasses import replace

import streamlit as st

from ffnviz.analysis.neurons.names import LONGEST_NAME, LONGEST_TAG, LONGEST_WORDS, Name
from ffnviz.analysis.neurons.naming import (
    ProbeInputs,
    Score,
    probe_inputs,
    score_tag,
    score_words,
    word_values,
)
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.analysis.neurons.probes import read_probes, split
from ffnviz.figures.neurons.naming import scores
from ffnviz.figures.wording import Sentence, neuron_name, number, percent, quoted
from ffnviz.parts.neurons.choose import chooser, index_of, neuron_shown
from ffnviz.parts.neurons.kept_names import NAMES, all_names, keep, kept, networks_of
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.passages import Passage, passages
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, choice_setting, text_setting

MISTAKES = 8
KIND = choice_setting("guess", {"tag": "a tag of the sentence", "words": "words of my own"})
SHARES = {"any": 0.0, "quarter": 0.25, "half": 0.5}  # of how far from zero it goes
TAG = replace(text_setting("tag", "past", LONGEST_TAG), longest=None)  # chosen from a list
WORDS = text_setting("says", longest=LONGEST_WORDS)
CALLED = text_setting("called", longest=LONGEST_NAME, room=9 * LONGEST_NAME)  # in any script
LEVEL = choice_setting(
    "level", {"any": "at all", "quarter": "beyond ¼ of its most", "half": "beyond ½ of its most"}
)
OF = text_setting("of", longest=80)  # the neuron that the name and the guess were typed for
SETTINGS = (KIND, TAG, WORDS, CALLED, LEVEL, OF, NAMES)


def follow(run: Run, navigator: Navigator) -> None:
    """Another neuron: its kept name takes the place of what was typed for the one before."""
    neuron = run.card.id, run.state.block + 1, neuron_shown(run)
    of, before = "{}-{}-{}".format(*neuron), navigator.value(OF)
    if before == of:
        return
    navigator.choose(OF, of, settled=False)
    guess: tuple[Setting[str], ...] = (CALLED, WORDS, TAG, KIND)
    if not before and any(navigator.value(setting) != setting.default for setting in guess):
        return  # a link that does not say which neuron it was typed for: the one it shows
    names = {name.of: name for name in kept(networks_of(run), navigator)}
    known = names.get(neuron, Name(*neuron, ""))
    navigator.choose(CALLED, known.name, settled=False)
    navigator.choose(WORDS, known.words, settled=False)
    navigator.choose(TAG, known.tag or TAG.default, settled=False)
    if known.words or known.tag:
        navigator.choose(KIND, "tag" if known.tag else "words", settled=False)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The guess, how well it does, and the names kept so far."""
    neuron = chooser(run, navigator)
    index = index_of(run, navigator)
    if index is None:
        return
    read: ProbeInputs = run.subject.per_network(
        "held-back probes", lambda: probe_inputs(run.model, split(read_probes())[1])
    )
    guess, result, mistakes = st.columns([0.95, 1, 1.2], gap="medium")
    with guess:
        name = the_guess(run, navigator, index, neuron)
        keep(networks_of(run), navigator, name)
        all_names(networks_of(run), navigator)
    score = put_to_the_test(run, navigator, index, read, name)
    with result:
        how_well(run, score, name)
    with mistakes:
        its_mistakes(run, read, score, name)


def the_guess(run: Run, navigator: Navigator, index: NeuronIndex, neuron: int) -> Name:
    """The boxes in which it is made."""
    of = Name(run.card.id, run.state.block + 1, neuron, "")
    called = st.text_input(
        f"Your name for neuron {neuron_name(run.state.block, neuron)}", autocomplete="off",
        placeholder="for example: words for numbers", **navigator.widget(CALLED),
    )  # fmt: skip
    if index.tags:
        st.segmented_control("It fires on …", required=True, **navigator.options(KIND))
    st.segmented_control("It counts as firing …", required=True, **navigator.options(LEVEL))
    if index.tags and navigator.value(KIND) == "tag":
        widget = navigator.widget(TAG)
        if navigator.value(TAG) not in index.tags:
            st.session_state[widget["key"]] = index.tags[0]
        tag = st.selectbox("Tag", index.tags, **widget)
        return replace(of, name=called or "", tag=str(tag))
    words = st.text_input(
        "Words, with commas between them", autocomplete="off", placeholder="two, three, forty",
        **navigator.widget(WORDS),
    )  # fmt: skip
    return replace(of, name=called or "", words=words or "")


def put_to_the_test(
    run: Run, navigator: Navigator, index: NeuronIndex, read: ProbeInputs, name: Name
) -> Score:
    """Its precision and recall on the sentences held back."""
    block = run.state.block
    values = word_values(run.model, read, block, name.neuron)
    found = index.by_number[block]
    strongest = max(float(found.most[name.neuron]), -float(found.least[name.neuron]))
    share = SHARES[navigator.value(LEVEL)]
    level = max(index.threshold, share * strongest)
    if name.tag:
        return score_tag(read, values, level, name.tag, MISTAKES)
    words = [word for word in re.split(r"[\s,;]+", name.words) if word]
    return score_words(read, values, level, words, MISTAKES)


def how_well(run: Run, score: Score, name: Name) -> None:
    """Precision and recall beside what chance gives."""
    units = "sentences" if name.tag else "words"
    called: Sentence = [quoted(name.name)] if name.name else ["The guess"]
    sentence: Sentence
    if score.precision is None:
        sentence = [*called, f" predicts none of the {score.n:,} {units} kept for the test."]
    elif score.recall is None:
        sentence = [
            "The neuron fires on none of ",
            number(f"{score.n:,} {units}"),
            " kept for the test.",
        ]
    else:
        sentence = [
            *called, ": ", number(f"{score.both} of the {score.guessed} {units}"),
            f" it predicts are correct (precision {percent(score.precision)}); it finds ",
            number(f"{score.both} of the {score.fired}"), " on which the neuron fires (recall "
            f"{percent(score.recall)}).",
        ]  # fmt: skip
    chart(
        Head(sentence, "named", run.card.colour),
        scores(score.precision, score.recall, score.chance, run.card.colour),
        "Precision, recall, and the precision of guessing blindly.",
        f"{run.stamp} {name} {score.fired}",
        key="named",
        height=560,
    )


def its_mistakes(run: Run, read: ProbeInputs, score: Score, name: Name) -> None:
    """Where it fires unannounced, and where it was announced and did not fire."""
    shown = [
        Passage(kind, *_around(read, unit.sentence, "" if name.tag else unit.text))
        for kind, units in (("missed", score.missed), ("wrong", score.wrong))
        for unit in units
    ]
    sentence: Sentence = [
        "Its mistakes: ", number(f"{score.fired - score.both} missed"), ", ",
        number(f"{score.guessed - score.both} false positives"), ". Some of each:",
    ]  # fmt: skip
    passages(
        Head(sentence, "mistakes", run.card.colour),
        shown,
        f"{run.stamp} {name} {score.fired}",
        key="mistakes",
    )


def _around(read: ProbeInputs, sentence: int, word: str) -> tuple[str, str, str]:
    text = read.sentences[sentence]
    place = text.find(word) if word else -1
    if place < 0:
        return text, "", ""
    return text[:place], word, text[place + len(word) :]
