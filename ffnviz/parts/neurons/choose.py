"""The choice of a neuron, the index of what activates each, and what others say of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.descriptions import (
    Description,
    Descriptions,
    DescriptionsError,
    credit,
    read_descriptions,
)
from ffnviz.analysis.neurons.index_file import INDEXES, IndexFileError, in_words, read_index
from ffnviz.analysis.neurons.intervention import strongest_neurons
from ffnviz.analysis.neurons.names import Name
from ffnviz.analysis.neurons.neuron_index import (
    InterpretableNeuron,
    NeuronIndex,
    interpretable_neurons,
    words_at,
)
from ffnviz.models.config import config
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.sheet import Button, Choice, Control, NumberBox, Row, Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.text import Passage, table_cell, text_cell
from ffnviz.pictures.wording import counted, number, plain, signed, typed
from ffnviz.state.actions import ChooseBlock, ChooseNeuron
from ffnviz.state.run import Run

STRONGEST = 5
AROUND = 400  # characters of a long text on each side of the token
MADE_ANEW = "`ffnviz index` makes a new one."
DESCRIPTIONS_SHOWN = 20


def neuron_controls(run: Run) -> list[Control]:
    """The controls that choose another neuron: by number, by meaning, by strength on the token."""
    shown = neuron_shown(run)
    strongest = strongest_neurons(run.trace, run.state.block, run.token, STRONGEST)
    meanings = {}
    for each in clear_neurons(run):
        words = f" ({', '.join(each.words)})" if each.words else ""
        meanings[each.neuron] = f"{'below zero: ' * (each.side < 0)}{each.tag}{words}"

    def choose(neuron: int) -> ChooseNeuron:
        return ChooseNeuron(run.neuron(int(neuron)))

    def among(label: str, words: Mapping[int, str]) -> Choice:
        neurons = list(words)
        chosen = neurons.index(shown) if shown in neurons else None
        return Choice(label, list(words.values()), lambda at: choose(neurons[at]), chosen)

    by_number = NumberBox("Neuron", shown, 0, run.model.sizes.d_ff - 1, choose)
    by_meaning = [among("or an interpretable one", meanings)] if meanings else []
    by_strength = among("or the strongest on this token", {n: str(n) for n in strongest})
    return [by_number, *by_meaning, by_strength]


def clear_neurons(run: Run) -> tuple[InterpretableNeuron, ...]:
    """The block's most interpretable neurons according to the index; none without an index."""
    block = run.state.block

    def find() -> tuple[InterpretableNeuron, ...]:
        index = index_at_hand(run)
        return () if index is None else interpretable_neurons(index, block, words_at(run.model))

    return run.subject.per_network(f"clear neurons of block {block}", find)


def index_at_hand(run: Run) -> NeuronIndex | None:
    """The network's index; None if it lacks the block, cannot be read, or does not exist."""
    return index_with_notes(run).index


TokensOf = Callable[[str], Sequence[Token]]


def tokens_read(run: Run, text: str) -> Sequence[Token]:
    """The tokens that the network reads of a text."""
    return run.model.tokenizer.encode(text, run.model.sizes.max_tokens).tokens


def passage(text: str, tokens: Sequence[Token], token: int, value: float) -> Passage:
    """A passage of a text, with the token marked at which a neuron or a feature is strongest."""
    at = tokens[min(token, len(tokens) - 1)]
    start = at.end - len(at.text.lstrip())
    before, after = text[:start], text[at.end :]
    if len(before) > AROUND:
        before = f"…{before[-AROUND:]}"
    if len(after) > AROUND:
        after = f"{after[:AROUND]}…"
    return Passage(signed(value), before, text[start : at.end], after)


def dated(run: Run) -> str:
    """The date of the network's index file, to follow its corpus; none for the indexes we ship."""
    path = _index_path(run)
    if path is None or path.parent == INDEXES:
        return ""
    try:
        day = datetime.fromtimestamp(path.stat().st_mtime)
    except OSError:  # removed since it was read
        return ""
    return f" (file of {day:%Y-%m-%d})"


def _index_path(run: Run) -> Path | None:
    provenance = run.card.provenance
    return None if provenance is None else provenance.index


@dataclass(frozen=True)
class IndexAtHand:
    """The network's index, or what is said in its place."""

    index: NeuronIndex | None  # None where it lacks the block, or cannot be read
    notes: tuple[Cell, ...] = ()  # what is said of it
    controls: tuple[Control, ...] = ()  # that lead to where there is more


def index_with_notes(run: Run) -> IndexAtHand:
    """The network's index; where it lacks the block, or cannot be read, a note says so."""
    path, sizes, block = _index_path(run), run.model.sizes, run.state.block
    if path is None:
        missing = f"Not for {typed(run.card.label)}: {Capability.INDEX.value}"
        return IndexAtHand(None, (text_cell("no-index", missing, tone="info"),))
    try:
        read = partial(read_index, path, sizes.d_ff, sizes.n_blocks)
        index = run.subject.per_network("neuron index", read)
    except IndexFileError as error:
        title = f"The index of neurons cannot be read. {MADE_ANEW}"
        return IndexAtHand(None, (error_cell("no-index", title, error),))
    numbers = index.numbers
    if block not in numbers:
        note = (
            f"This index has block{'s' * (len(numbers) > 1)} {in_words(numbers)} of "
            f"{sizes.n_blocks}; block {block + 1} is not in it."
        )
        before = [each for each in numbers if each < block]
        after = [each for each in numbers if each > block]
        to_nearest = tuple(map(go_to_block, before[-1:] + after[:1]))
        return IndexAtHand(None, (text_cell("no-index", note, tone="info"),), to_nearest)
    if not run.card.signed or index.both_sides:
        return IndexAtHand(index)
    old = (
        "This index was made by an older version: in it, a neuron fires only above "
        f"{index.threshold:g}, and has no examples below zero. {MADE_ANEW}"
    )
    return IndexAtHand(index, (text_cell("old-index", old, tone="info"),))


def sheet_of_index(
    run: Run, rows: Callable[[NeuronIndex], list[Row]], controls: Sequence[Control] | None = None
) -> Sheet:
    """The rows made from the index, or the notes in their place."""
    at_hand = index_with_notes(run)
    shown = [] if at_hand.index is None else rows(at_hand.index)
    notes = [row(at_hand.notes)] if at_hand.notes else []
    controls = neuron_controls(run) if controls is None else controls
    return Sheet([*notes, *shown], [*controls, *at_hand.controls])


def go_to_block(block: int) -> Button:
    """A button that chooses a block, from 0."""
    return Button(f"Go to block {block + 1}", ChooseBlock(block))


def error_cell(key: str, title: str, error: Exception) -> Cell:
    """A warning; the error's message may quote a person, so it is shown as typed text."""
    return text_cell(key, title, typed(str(error)), tone="warning")


def what_others_say(
    run: Run,
    neuron: int,
    on_choose: Callable[[Description], Any] | None = None,  # gives the action for a row
    dictionary: str = "",  # whose feature is meant instead, as Neuronpedia calls it
) -> list[Cell]:
    """Descriptions of the neuron, by whom, and their scores; nothing without files for it."""
    files = _files(run)
    if not files:
        return []
    try:
        descriptions = said_of(run, neuron, dictionary)[:DESCRIPTIONS_SHOWN]
    except (DescriptionsError, OSError) as error:
        return [error_cell("others", "The descriptions of neurons cannot be read.", error)]
    where = ", ".join(path.name for path in files)
    if not descriptions:
        nothing = f"{typed(where)} says nothing of this neuron."
        return [] if dictionary else [text_cell("others", nothing, tone="quiet")]
    n, what = len(descriptions), "feature" if dictionary else "neuron"
    sentence = f"{number(counted(n, 'description'))} of this {what} in {plain(where)}."
    if on_choose:
        sentence += " Click one to take it as your name."
    rows = [(each.text, each.who or "not told", scored(each)) for each in descriptions]
    head, columns = Head(sentence, "", run.card.colour), ("description", "said by", "score")
    choose = (lambda at: on_choose(descriptions[at])) if on_choose else None
    return [table_cell("others", head, columns, rows, choose)]


def said_of(run: Run, neuron: int, dictionary: str = "") -> tuple[Description, ...]:
    """The files' descriptions of a neuron of the block shown, or of a feature, the best first."""
    files = _files(run)
    descriptions = run.subject.per_network(
        f"descriptions in {files}", lambda: sum(map(read_descriptions, files), Descriptions(()))
    )
    return descriptions.in_layer(dictionary or str(run.state.block), neuron)


def credited(run: Run, name: Name) -> Name:
    """The name, credited to its author if it is a description from one of the files."""
    try:
        descriptions = said_of(run, name.neuron)
    except (DescriptionsError, OSError):
        return name
    for each in descriptions:
        if name.name and each.text.startswith(name.name):
            return credit(name, each)
    return name


def _files(run: Run) -> list[Path]:
    return [path for network, path in config().descriptions if network == run.card.id]


def scored(description: Description) -> str:
    """Its best score, with the method and the author."""
    best = description.best
    if best is None:
        return ""
    how = ", ".join(part for part in (best.method, best.by) if part)
    return f"{best.value:.2f}" + f" ({how})" * bool(how)
