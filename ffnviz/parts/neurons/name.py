"""Test a name: a guess at what a neuron stands for, put to the test on sentences held back."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote_plus

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.neurons.descriptions import (
    DescriptionsError,
    as_descriptions,
    as_names,
    descriptions_in,
    to_lines,
)
from ffnviz.analysis.neurons.gathering import batches
from ffnviz.analysis.neurons.names import (
    LONGEST_FILE,
    LONGEST_NAME,
    LONGEST_TAG,
    LONGEST_WORDS,
    Name,
    NamesError,
    Reading,
    read_names,
    to_file,
    to_line,
    with_name,
)
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.analysis.neurons.probes import Probe, read_probes, split
from ffnviz.analysis.sparsity import active
from ffnviz.models.network import Network
from ffnviz.models.spelling import as_read
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import (
    credited,
    index_with_notes,
    neuron_controls,
    sheet_of_index,
    what_others_say,
)
from ffnviz.parts.sheet import Answer, Button, Control, Download, Sheet, Upload, row, set_to
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, axis, bar_trace, escaped, figure
from ffnviz.pictures.text import Passage, passages_cell, table_cell, text_cell
from ffnviz.pictures.wording import counted, neuron_name, number, percent, quoted, typed
from ffnviz.state.actions import OpenNeuron, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, text_setting
from ffnviz.state.state import Neuron

WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Unit:
    """A sentence or a word: what a guess says the neuron fires on, or not."""

    text: str
    sentence: int  # the number of its sentence


@dataclass(frozen=True)
class Score:
    """How well a guess says on which units a neuron fires."""

    guessed: int  # units that the guess names
    fired: int  # units on which the neuron fires
    both: int  # units for which both is true
    n: int  # all units
    missed: tuple[Unit, ...]  # some on which it fires, and which the guess does not name
    wrong: tuple[Unit, ...]  # some that the guess names, and on which it does not fire

    @property
    def precision(self) -> float | None:
        """Share of the guessed units on which it fires; None if none is guessed."""
        return self.both / self.guessed if self.guessed else None

    @property
    def recall(self) -> float | None:
        """Share of the units on which it fires that are guessed; None if it never fires."""
        return self.both / self.fired if self.fired else None

    @property
    def chance(self) -> float:
        """The precision of guessing at random."""
        return self.fired / self.n


@dataclass(frozen=True)
class ProbeInputs:
    """The FFNs' inputs on a set of sentences, from which any neuron is computed fast."""

    inputs: tuple[Tensor, ...]  # of each block, on all tokens of all sentences, (n_tokens, d_model)
    words: tuple[Unit, ...]  # all words of all sentences
    word_of_token: NDArray[np.int64]  # the index of each token's word in `words`, (n_tokens,)
    tags: tuple[tuple[str, ...], ...]  # of each sentence
    sentences: tuple[str, ...]  # their texts


@torch.no_grad()
def probe_inputs(model: Network, probes: Sequence[Probe]) -> ProbeInputs:
    """Run the network over the sentences once."""
    max_tokens = model.sizes.max_tokens
    inputs: list[list[Tensor]] = [[] for _ in range(model.sizes.n_blocks)]
    words: list[Unit] = []
    word_of_token: list[int] = []
    in_order: list[Probe] = []
    for batch in batches(probes, model.tokenizer, max_tokens):
        for of_block, block in zip(inputs, model.walk(batch.ids.to(model.device)), strict=True):
            of_block.append(block.ffn.input.flatten(0, 1))
        for probe in batch.probes:
            matches = list(WORD.finditer(probe.text))
            ends = [match.end() for match in matches]
            for token in model.tokenizer.encode(probe.text, max_tokens).tokens:
                # A token belongs to the word in which it ends; a blank, to the next word.
                word = int(np.searchsorted(ends, token.end))
                word_of_token.append(len(words) + min(word, len(matches) - 1))
            words += [Unit(match.group(), len(in_order)) for match in matches]
            in_order.append(probe)
    return ProbeInputs(
        tuple(map(torch.cat, inputs)),
        tuple(words),
        np.array(word_of_token),
        tuple(probe.tags for probe in in_order),
        tuple(probe.text for probe in in_order),
    )


@torch.no_grad()
def word_values(model: Network, probed: ProbeInputs, block: int, neuron: int) -> Array:
    """A neuron's largest |hidden| on the tokens of each word, (n_words,)."""
    hidden = model.ffn(block).neuron(probed.inputs[block], neuron)
    magnitudes = np.zeros(len(probed.words), np.float32)
    np.maximum.at(magnitudes, probed.word_of_token, hidden.float().abs().cpu().numpy())
    return magnitudes


def score_tag(probed: ProbeInputs, magnitudes: Array, level: float, tag: str, k: int = 5) -> Score:
    """Score the guess that a neuron fires, beyond `level`, in the sentences with a tag."""
    strongest = np.zeros(len(probed.sentences))
    np.maximum.at(strongest, [word.sentence for word in probed.words], magnitudes)
    units = [Unit(text, number) for number, text in enumerate(probed.sentences)]
    guessed = np.array([tag in tags for tags in probed.tags])
    return _score(units, guessed, active(strongest, level), k)


def score_words(
    probed: ProbeInputs, magnitudes: Array, level: float, words: Collection[str], k: int = 5
) -> Score:
    """Score the guess that a neuron fires, beyond `level`, on a list of words."""
    guess = {as_read(word).lower() for word in words}
    guessed = np.array([as_read(word.text).lower() in guess for word in probed.words])
    return _score(probed.words, guessed, active(magnitudes, level), k)


def _score(
    units: Sequence[Unit], guessed: NDArray[np.bool_], fired: NDArray[np.bool_], k: int
) -> Score:
    missed, wrong = np.flatnonzero(fired & ~guessed), np.flatnonzero(guessed & ~fired)
    return Score(
        int(guessed.sum()),
        int(fired.sum()),
        int((guessed & fired).sum()),
        len(units),
        tuple(units[place] for place in missed[:k]),
        tuple(units[place] for place in wrong[:k]),
    )


def scores(score: Score, twin: str) -> Figure:
    """Precision, recall and chance as bars; what cannot be said has none."""
    values = [score.precision, score.recall, score.chance]
    text = [
        unsaid if value is None else escaped(percent(value))
        for value, unsaid in zip(values, ("none named", "never fires", ""), strict=True)
    ]
    names = ["precision", "recall", "precision by chance"]
    shares = [100 * (value or 0.0) for value in values]
    colours = [f"@{twin}", f"@{twin}/0.55", "@muted"]
    said = {"text": text, "textposition": "outside", "textfont": {"size": 22}}
    looks = {"meta": {"labels": []}, "cliponaxis": False, "hoverinfo": "none"}
    return figure(
        [bar_trace("score", names, np.array(shares), colours, **said, **looks)],
        axis("", showgrid=False),
        axis("%", range=[0, 115], tickvals=[0, 25, 50, 75, 100]),
        margin={"l": 60, "r": 10, "t": 20, "b": 50},
    )


LONGEST_IN_URL = 1_800
ROOM_IN_URL = 2_800  # characters of the URL for the same: JSON's signs take three each
# A line that is there is read to its end, however a URL writes it: cut, it would be no JSON.
NAMES = text_setting("names", longest=LONGEST_IN_URL, url_length=12 * LONGEST_IN_URL)
NO_ROOM = "A link has no room for so many names, so none was added."
PROBLEMS_SHOWN = 5


def names_in_link(run: Run, values: Values) -> Reading:
    """The names in the URL, with what cannot be read in it."""
    try:
        return read_names(values[NAMES], run.networks)
    except NamesError as error:
        return Reading((), (str(error),))


def name_controls(run: Run, values: Values, name: Name) -> list[Control]:
    """The controls that keep the name, and that export and import all names."""
    names = names_in_link(run, values).names
    lines = to_lines(as_descriptions(names))
    exports = [
        Download("Export names", "neuron-names.json", "application/json", to_file(names)),
        Download("Export for Neuronpedia", "explanations.jsonl", "application/jsonl", lines),
    ]
    about = (
        "A file of names, as exported here, or of descriptions, as Neuronpedia exports them: "
        f"up to {LONGEST_FILE:,} characters"
    )

    def read(file: str, text: str) -> Answer:
        return imported(run, values, file, text)

    keep = Button("Keep this name", _add_names(names, [name]) if name.name.strip() else None)
    upload = Upload("Import names", ".json,.jsonl", LONGEST_FILE, read, about)
    return [keep, *(exports if names else []), upload]


def name_cells(run: Run, values: Values, name: Name) -> list[Cell]:
    """The table of the link's names, and what is wrong with them; a row leads to its neuron."""
    reading, cells = names_in_link(run, values), []
    if reading.left_out:
        title = "The link holds names that cannot be shown."
        cells.append(_problems("names-link", title, reading.left_out))
    if name.name.strip() and _add_names(reading.names, [name]) is None:
        cells.append(text_cell("names-full", "The link has no room for another name.", tone="info"))
    names = reading.names
    if not names:
        return cells
    neurons = [Neuron(each.twin, each.block - 1, each.neuron) for each in names]
    count = number(counted(len(names), "name"))
    sources = any(each.by or each.score for each in names)
    rows = []
    for neuron, each in zip(neurons, names, strict=True):
        source = [each.by or "you", each.score] * sources
        rows.append((f"{neuron.network} {neuron}", each.name, each.tag or each.words, *source))
    head = Head(f"{count} kept in this page’s link. Click one to open it.", "", run.card.colour)
    columns = ("neuron", "name", "guess", *["said by", "score"] * sources)

    def opened(row: int) -> OpenNeuron:
        return OpenNeuron(neurons[row], "neurons", "browse", settings={"browse_view": "name"})

    return [*cells, table_cell("names-table", head, columns, rows, opened)]


def imported(run: Run, values: Values, file: str, text: str) -> Answer:
    """Add the file's legal names, each replacing an older one; a note says what was left out."""
    try:
        if file.lower().endswith(".jsonl"):
            reading = as_names(descriptions_in("It", text), run.networks, run.card.id)
        else:  # some editors put a byte order mark before the text
            reading = read_names(text.removeprefix("\ufeff"), run.networks)
        action = _add_names(names_in_link(run, values).names, reading.names)
        if action is None:
            raise NamesError(NO_ROOM)
    except (NamesError, DescriptionsError) as error:
        title = "The names could not be imported."
        return Answer(None, _problems("names-file", title, [f"{file}: {error}"]))
    n = len(reading.names)
    done = f"{counted(n, 'name')} imported; {len(reading.left_out):,} left out."
    note = _problems("names-file", done, reading.left_out) if reading.left_out else None
    return Answer(action, note)


def _add_names(names: Sequence[Name], more: Sequence[Name]) -> Set | None:
    """The action that adds names to the link; None if it has no room for them."""
    for name in more:
        names = with_name(names, name)
    line = to_line(names)
    fits = len(line) <= LONGEST_IN_URL and len(quote_plus(line)) <= ROOM_IN_URL
    return set_to(NAMES, line) if fits else None


def _problems(key: str, title: str, reasons: Sequence[str]) -> Cell:
    more = len(reasons) - PROBLEMS_SHOWN
    rest = [f"and {more:,} more"] if more > 0 else []
    return text_cell(key, title, *map(typed, reasons[:PROBLEMS_SHOWN]), *rest, tone="warning")


MISTAKES = 8
KINDS = {"tag": "a tag of the sentence", "words": "words of my own"}
KIND = choice_setting("guess", KINDS).with_control("It fires on …")
SHARES = {"any": 0.0, "quarter": 0.25, "half": 0.5}  # of how far from zero it goes
TAG = replace(text_setting("tag", "past", LONGEST_TAG), longest=None)  # chosen from a list
WORDS = text_setting("says", longest=LONGEST_WORDS).with_control(
    "Words, with commas between them", example="two, three, forty"
)
CALLED = text_setting("called", longest=LONGEST_NAME, url_length=9 * LONGEST_NAME)  # in any script
LEVELS = {"any": "at all", "quarter": "above ¼ of its maximum", "half": "above ½ of its maximum"}
LEVEL = choice_setting("level", LEVELS).with_control("It counts as firing …")
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
    label = f"Your name for neuron {neuron_name(run.state.block, name.neuron)}"
    tags = at_hand.index.tags
    controls: list[Control] = [
        *neuron_controls(run),
        CALLED.with_control(label, example="for example: words for numbers"),
        *([KIND] if tags else []),
        LEVEL,
        replace(TAG, label="Tag", options={tag: tag for tag in tags}) if name.tag else WORDS,
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
    called = quoted(name.name) if name.name else "The guess"
    if score.precision is None:
        sentence = f"{called} picks none of the {score.n:,} {units} kept for the test."
    elif score.recall is None:
        tested = number(f"{score.n:,} {units}")
        sentence = f"The neuron fires on none of {tested} kept for the test."
    else:
        sentence = (
            f"{called} is right about {number(f'{score.both} of the {score.guessed} {units}')} it "
            f"picks (precision {percent(score.precision)}), and finds {score.both} of the "
            f"{score.fired} on which the neuron fires (recall {percent(score.recall)})."
        )
    drawn = scores(score, run.card.colour)
    alt = "Precision, recall, and the precision of guessing blindly."
    return chart_cell(Head(sentence, "named", run.card.colour), drawn, alt, height=400)


def its_mistakes(run: Run, read: ProbeInputs, score: Score, name: Name) -> Cell:
    """Where the neuron fires although the guess says no, and the other way round."""
    shown = []
    for kind, units in (("missed", score.missed), ("wrong", score.wrong)):
        for unit in units:
            text = read.sentences[unit.sentence]
            marked = (text, "", "") if name.tag or not unit.text else text.partition(unit.text)
            shown.append(Passage(kind, *marked))
    sentence = (
        f"The guess's mistakes: {number(f'{score.fired - score.both} missed')}, "
        f"{score.guessed - score.both} wrong.{' Some of them:' if shown else ''}"
    )
    return passages_cell(Head(sentence, "mistakes", run.card.colour), shown, key="mistakes")
