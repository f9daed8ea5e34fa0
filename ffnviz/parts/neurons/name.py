"""Test a name: a guess at what a neuron stands for, put to the test on sentences held back."""

import re
from dataclasses import replace

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
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import index_with_notes, neuron_controls, sheet_of_index
from ffnviz.parts.neurons.kept_names import NAMES, name_cells, name_controls, names_in_link
from ffnviz.parts.neurons.others import credited, what_others_say
from ffnviz.parts.sheet import Control, Sheet, row, set_to
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.passages import Passage, passages_cell
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, text_setting

MISTAKES = 8
KIND = choice_setting(
    "guess", {"tag": "a tag of the sentence", "words": "words of my own"}
).with_control("It fires on …")
SHARES = {"any": 0.0, "quarter": 0.25, "half": 0.5}  # of how far from zero it goes
TAG = replace(text_setting("tag", "past", LONGEST_TAG), longest=None)  # chosen from a list
WORDS = text_setting("says", longest=LONGEST_WORDS).with_control(
    "Words, with commas between them", example="two, three, forty"
)
CALLED = text_setting("called", longest=LONGEST_NAME, url_length=9 * LONGEST_NAME)  # in any script
LEVEL = choice_setting(
    "level",
    {"any": "at all", "quarter": "above ¼ of its maximum", "half": "above ½ of its maximum"},
).with_control("It counts as firing …")
OF = text_setting("of", longest=80)  # the neuron that the name and the guess were typed for
SETTINGS = (KIND, TAG, WORDS, CALLED, LEVEL, OF, NAMES)


def follow(run: Run, values: Values) -> Set | None:
    """For another neuron, its kept name replaces what was typed for the one before."""
    neuron = run.card.id, run.state.block + 1, neuron_shown(run)
    current, before = "{}-{}-{}".format(*neuron), values[OF]
    if before == current:
        return None
    if not before and any(values[guess] != guess.default for guess in (CALLED, WORDS, TAG, KIND)):
        # A link that does not say which neuron it was typed for: the one it shows.
        return set_to(OF, current)
    by_neuron = {name.of: name for name in names_in_link(run, values).names}
    name = by_neuron.get(neuron, Name(*neuron, ""))
    texts = {OF: current, CALLED: name.name, WORDS: name.words, TAG: name.tag or TAG.default}
    if name.words or name.tag:
        texts[KIND] = "tag" if name.tag else "words"
    return Set({setting.name: text for setting, text in texts.items()})


def sheet(run: Run, values: Values) -> Sheet:
    """The guess's score and the names kept so far, beside its mistakes."""
    at_hand = index_with_notes(run)
    if at_hand.index is None:
        return sheet_of_index(run, lambda _: [])
    read: ProbeInputs = run.subject.per_network(
        "held-back probes", lambda: probe_inputs(run.model, split(read_probes())[1])
    )
    name = credited(run, the_guess(run, values, at_hand.index))
    score = score_guess(run, values, at_hand.index, read, name)
    others = what_others_say(run, name.neuron, lambda row: set_to(CALLED, row.text[:LONGEST_NAME]))
    result = [*at_hand.notes, how_well(run, score, name), *others, *name_cells(run, values, name)]
    controls = [
        *neuron_controls(run),
        *guess_controls(run, at_hand.index, name),
        *name_controls(run, values, name),
    ]
    return Sheet([row(result, its_mistakes(run, read, score, name), widths=(1, 1.2))], controls)


def the_guess(run: Run, values: Values, index: NeuronIndex) -> Name:
    """The current settings, as a name."""
    name = Name(run.card.id, run.state.block + 1, neuron_shown(run), values[CALLED])
    in_link = {(each.of, each.name): each for each in names_in_link(run, values).names}
    name = replace(in_link.get((name.of, name.name), name), tag="", words="")
    if index.tags and values[KIND] == "tag":
        return replace(name, tag=values[TAG] if values[TAG] in index.tags else index.tags[0])
    return replace(name, words=values[WORDS])


def guess_controls(run: Run, index: NeuronIndex, name: Name) -> list[Control]:
    """The controls in which the guess is made."""
    called = CALLED.with_control(
        f"Your name for neuron {neuron_name(run.state.block, name.neuron)}",
        example="for example: words for numbers",
    )
    tags = replace(TAG, label="Tag", options={tag: tag for tag in index.tags})
    return [called, *([KIND] if index.tags else []), LEVEL, tags if name.tag else WORDS]


def score_guess(
    run: Run, values: Values, index: NeuronIndex, read: ProbeInputs, name: Name
) -> Score:
    """The guess's precision and recall on the sentences held back."""
    block = run.state.block
    written = word_values(run.model, read, block, name.neuron)
    of_block = index.by_number[block]
    strongest = max(float(of_block.most[name.neuron]), -float(of_block.least[name.neuron]))
    level = max(index.threshold, SHARES[values[LEVEL]] * strongest)
    if name.tag:
        return score_tag(read, written, level, name.tag, MISTAKES)
    words = [word for word in re.split(r"[\s,;]+", name.words) if word]
    return score_words(read, written, level, words, MISTAKES)


def how_well(run: Run, score: Score, name: Name) -> Cell:
    """Precision and recall beside what chance gives."""
    units = "sentences" if name.tag else "words"
    called: Sentence = [quoted(name.name)] if name.name else ["The guess"]
    sentence: Sentence
    if score.precision is None:
        sentence = [*called, f" picks none of the {score.n:,} {units} kept for the test."]
    elif score.recall is None:
        tested = number(f"{score.n:,} {units}")
        sentence = ["The neuron fires on none of ", tested, " kept for the test."]
    else:
        sentence = [
            *called, " is right about ", number(f"{score.both} of the {score.guessed} {units}"),
            f" it picks (precision {percent(score.precision)}), and finds {score.both} of the "
            f"{score.fired} on which the neuron fires (recall {percent(score.recall)}).",
        ]  # fmt: skip
    return chart_cell(
        Head(sentence, "named", run.card.colour),
        scores(score.precision, score.recall, score.chance, run.card.colour),
        "Precision, recall, and the precision of guessing blindly.",
        height=400,
    )


def its_mistakes(run: Run, read: ProbeInputs, score: Score, name: Name) -> Cell:
    """Where the neuron fires although the guess says no, and the other way round."""
    shown = [
        Passage(kind, *_around(read, unit.sentence, "" if name.tag else unit.text))
        for kind, units in (("missed", score.missed), ("wrong", score.wrong))
        for unit in units
    ]
    sentence: Sentence = [
        "Its mistakes: ", number(f"{score.fired - score.both} missed"),
        f", {score.guessed - score.both} false positives. Some of each:",
    ]  # fmt: skip
    return passages_cell(Head(sentence, "mistakes", run.card.colour), shown, key="mistakes")


def _around(read: ProbeInputs, sentence: int, word: str) -> tuple[str, str, str]:
    text = read.sentences[sentence]
    return text.partition(word) if word else (text, "", "")
