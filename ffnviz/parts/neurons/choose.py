"""Which neuron: by number, one that means something, or one of the token's strongest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.index_file import INDEXES, IndexFileError, in_words, read_index
from ffnviz.analysis.neurons.interpretable_neurons import InterpretableNeuron, interpretable_neurons
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.analysis.neurons.strongest import strongest_neurons
from ffnviz.analysis.neurons.words_at import words_at
from ffnviz.figures.wording import signed
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.sheet import Button, Choice, Control, NumberBox, Row, Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.passages import Passage
from ffnviz.pictures.text import marked, text_cell
from ffnviz.state.actions import ChooseBlock, ChooseNeuron
from ffnviz.state.run import Run

STRONGEST = 5
AROUND = 400  # characters of a long text on each side of the token


def neuron_controls(run: Run) -> list[Control]:
    """Ways to choose another neuron."""
    shown = neuron_shown(run)
    strongest = list(strongest_neurons(run.trace, run.state.block, run.token, STRONGEST))
    clear = clear_neurons(run)

    def choose(neuron: int) -> ChooseNeuron:
        return ChooseNeuron(run.neuron(int(neuron)))

    def among(label: str, words: list[str], neurons: list[int]) -> Choice:
        at = neurons.index(shown) if shown in neurons else None
        return Choice(label, words, lambda place: choose(neurons[place]), at)

    by_number = NumberBox("Neuron", shown, 0, run.model.sizes.d_ff - 1, choose)
    by_strength = among("or the strongest on this token", [str(n) for n in strongest], strongest)
    meanings = [_called(each) for each in clear]
    by_meaning = among("or an interpretable one", meanings, [each.neuron for each in clear])
    return [by_number, *([by_meaning] if clear else []), by_strength]


def _called(each: InterpretableNeuron) -> str:
    """What it means; nobody typed any of it."""
    words = f" ({', '.join(each.words)})" if each.words else ""
    return f"{'below zero: ' * (each.side < 0)}{each.tag}{words}"


def clear_neurons(run: Run) -> tuple[InterpretableNeuron, ...]:
    """The block's neurons whose meaning shows best in the index; none without one."""
    known, block = run.card.provenance, run.state.block
    if known is None or known.index is None:
        return ()
    path = known.index

    def find() -> tuple[InterpretableNeuron, ...]:
        try:
            return interpretable_neurons(_read(run, path), block, words_at(run.model))
        except IndexFileError:
            return ()  # where the index itself is shown, the page says what is wrong with it

    return run.subject.per_network(f"clear neurons of block {block}", find)


def index_at_hand(run: Run) -> NeuronIndex | None:
    """The network's index; None if there is none of this block, or it cannot be read."""
    known = run.card.provenance
    if known is None or known.index is None:
        return None
    try:
        index = _read(run, known.index)
    except IndexFileError:
        return None  # where the index itself is shown, the page says what is wrong with it
    return index if run.state.block in index.by_number else None


def passage(run: Run, text: str, token: int, value: float) -> Passage:
    """A text in which something is strongest, the token at which it is marked."""
    tokens = run.model.tokenizer.encode(text, run.model.sizes.max_tokens).tokens
    at = tokens[min(token, len(tokens) - 1)]
    start = at.end - len(at.text.lstrip())
    before, after = text[:start], text[at.end :]
    if len(before) > AROUND:
        before = f"…{before[-AROUND:]}"
    if len(after) > AROUND:
        after = f"{after[:AROUND]}…"
    return Passage(signed(value), before, text[start : at.end], after)


def dated(run: Run) -> str:
    """The day of the network's index file, behind its corpus; of ours none, which came with us.

    The day is the file's and not in it, so that whoever counts the same gets the same bytes.
    """
    known = run.card.provenance
    if known is None or known.index is None or known.index.parent == INDEXES:
        return ""
    try:
        day = datetime.fromtimestamp(known.index.stat().st_mtime)
    except OSError:  # removed since it was read
        return ""
    return f" (file of {day:%Y-%m-%d})"


def _read(run: Run, path: Path) -> NeuronIndex:
    sizes = run.model.sizes
    return run.subject.per_network(
        "neuron index", lambda: read_index(path, sizes.d_ff, sizes.n_blocks)
    )


@dataclass(frozen=True)
class IndexAtHand:
    """The network's index, or what is said in its place."""

    index: NeuronIndex | None  # None where it has nothing of the block, or cannot be read
    notes: tuple[Cell, ...] = ()  # what is said of it
    controls: tuple[Control, ...] = ()  # that lead to where there is more


def index_with_notes(run: Run) -> IndexAtHand:
    """The network's index; where it has nothing of the block, or cannot be read, says so."""
    known = run.card.provenance
    if known is None or known.index is None:
        note = ["Not for ", (run.card.label, "typed"), ": ", *marked(Capability.INDEX.value)]
        return IndexAtHand(None, (text_cell("no-index", note, tone="info"),))
    try:
        index = _read(run, known.index)
    except IndexFileError as error:
        return IndexAtHand(None, (text_cell(
            "no-index",
            "The index of neurons cannot be read. `ffnviz index` makes a new one.",
            [(str(error), "typed")], tone="warning",
        ),))  # fmt: skip
    if run.state.block not in index.by_number:
        return _other_blocks(run, index)
    if run.card.signed and not index.both_sides:
        return IndexAtHand(index, (text_cell(
            "old-index",
            f"This index was made by an older version: in it, a neuron fires only above "
            f"{index.threshold:g}, and has no examples below zero. `ffnviz index` makes a new one.",
            tone="info",
        ),))  # fmt: skip
    return IndexAtHand(index)


def sheet_of_index(
    run: Run, rows: Callable[[NeuronIndex], list[Row]], controls: Sequence[Control] | None = None
) -> Sheet:
    """A neuron's rows from the index, or what is said in their place; and ways to another.

    Args:
        run: what is shown.
        rows: what is made of the index.
        controls: in the place of those that choose a neuron.
    """
    known = index_with_notes(run)
    shown = [] if known.index is None else rows(known.index)
    notes = [row(known.notes)] if known.notes else []
    controls = neuron_controls(run) if controls is None else controls
    return Sheet([*notes, *shown], [*controls, *known.controls])


def _other_blocks(run: Run, index: NeuronIndex) -> IndexAtHand:
    """What the index has instead of the block on the screen, and the way to the nearest."""
    here, numbers = run.state.block, index.numbers
    note = text_cell(
        "no-index",
        f"This index has block{'s' * (len(numbers) > 1)} {in_words(numbers)} of "
        f"{run.model.sizes.n_blocks}; block {here + 1} is not in it.",
        tone="info",
    )
    before = [number for number in numbers if number < here][-1:]
    after = [number for number in numbers if number > here][:1]
    buttons = [Button(f"Go to block {n + 1}", ChooseBlock(n)) for n in before + after]
    return IndexAtHand(None, (note,), tuple(buttons))
