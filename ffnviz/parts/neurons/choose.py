"""Which neuron: by number, one that means something, or one of the token's strongest."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

import streamlit as st

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.index_file import INDEXES, IndexFileError, in_words, read_index
from ffnviz.analysis.neurons.interpretable_neurons import InterpretableNeuron, interpretable_neurons
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.analysis.neurons.strongest import strongest_neuron, strongest_neurons
from ffnviz.parts.part import Navigator
from ffnviz.parts.sheet import Button, Choice, Control, NumberBox, Row, Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import ChooseBlock, ChooseNeuron
from ffnviz.state.run import Run

STRONGEST = 5


def neuron_shown(run: Run) -> int:
    """The chosen neuron's number, in whatever network it was; else the token's strongest."""
    chosen = run.state.neuron
    if chosen is not None and chosen.index < run.model.sizes.d_ff:
        return chosen.index
    return strongest_neuron(run.trace, run.state.block, run.token)


def chooser(run: Run, navigator: Navigator) -> int:
    """The controls; returns the neuron shown."""
    shown, d_ff = neuron_shown(run), run.model.sizes.d_ff
    strongest = strongest_neurons(run.trace, run.state.block, run.token, STRONGEST)
    clear = {each.neuron: each for each in clear_neurons(run)}
    by_number, by_strength, by_meaning = "neuron-number", "neuron-strongest", "neuron-clear"
    st.session_state[by_number] = shown
    st.session_state[by_strength] = shown if shown in strongest else None
    st.session_state[by_meaning] = shown if shown in clear else None

    def choose(key: str) -> None:
        number = st.session_state[key]
        if number is not None and 0 <= number < d_ff:
            navigator.do(ChooseNeuron(run.neuron(int(number))))

    with st.container(horizontal=True, vertical_alignment="center", key="choose-neuron"):
        st.markdown("**Neuron**", width="content")
        st.number_input(
            "Neuron, by its number", 0, d_ff - 1, step=1, key=by_number,
            on_change=choose, args=(by_number,), label_visibility="collapsed", width=150,
        )  # fmt: skip
        if clear:
            st.markdown("or a clear one:", width="content")
            st.pills(
                "Neurons that mean something", list(clear), key=by_meaning, on_change=choose,
                args=(by_meaning,),
                format_func=lambda neuron: _called(clear[neuron]),
                label_visibility="collapsed", width="content",
            )  # fmt: skip
        st.markdown("or the strongest on this token:", width="content")
        st.pills(
            "The strongest on this token", strongest, key=by_strength, on_change=choose,
            args=(by_strength,), label_visibility="collapsed", width="content",
        )  # fmt: skip
    return shown


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
    by_meaning = among("or a clear one", meanings, [each.neuron for each in clear])
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
            return interpretable_neurons(_read(run, path), block, word_at(run))
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


def word_at(run: Run) -> Callable[[str, int], str]:
    """What gives the word that a text has at a token, in lower case."""

    @cache
    def words(text: str) -> list[str]:
        tokens = run.model.tokenizer.encode(text, run.model.sizes.max_tokens).tokens
        return [token.text.strip().lower() for token in tokens]

    return lambda text, token: words(text)[min(token, len(words(text)) - 1)]


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


def index_of(run: Run, navigator: Navigator) -> NeuronIndex | None:
    """The network's index; where it has nothing of the block, or cannot be read, says so instead.

    Returns:
        None where something was said.
    """
    known = run.card.provenance
    if known is None or known.index is None:
        st.info(f"Not for {run.card.label}: {Capability.INDEX.value}")
        return None
    try:
        index = _read(run, known.index)
    except IndexFileError as error:
        st.error(
            "The index of what wakes each neuron cannot be shown. `ffnviz index` makes it anew."
        )
        st.text(str(error))
        return None
    if run.state.block not in index.by_number:
        _which_blocks(run, navigator, index)
        return None
    if run.card.signed and not index.both_sides:
        st.info(
            f"This index is of an older version: it has a neuron fire only above "
            f"{index.threshold:g}, and no examples from below zero. `ffnviz index` makes it anew."
        )
    return index


@dataclass(frozen=True)
class IndexAtHand:
    """The network's index, or what is said in its place.

    Attributes:
        index: None where it has nothing of the block, or cannot be read.
        notes: what is said of it.
        controls: that lead to where there is more.
    """

    index: NeuronIndex | None
    notes: tuple[Cell, ...] = ()
    controls: tuple[Control, ...] = ()


def index_with_notes(run: Run) -> IndexAtHand:
    """The network's index; where it has nothing of the block, or cannot be read, says so."""
    known = run.card.provenance
    if known is None or known.index is None:
        note = f"Not for {run.card.label}: {Capability.INDEX.value}"
        return IndexAtHand(None, (text_cell("no-index", note, tone="info"),))
    try:
        index = _read(run, known.index)
    except IndexFileError as error:
        return IndexAtHand(None, (text_cell(
            "no-index",
            "The index of what wakes each neuron cannot be shown. `ffnviz index` makes it anew.",
            [(str(error), "typed")], tone="warning",
        ),))  # fmt: skip
    if run.state.block not in index.by_number:
        return _other_blocks(run, index)
    if run.card.signed and not index.both_sides:
        return IndexAtHand(index, (text_cell(
            "old-index",
            f"This index is of an older version: it has a neuron fire only above "
            f"{index.threshold:g}, and no examples from below zero. `ffnviz index` makes it anew.",
            tone="info",
        ),))  # fmt: skip
    return IndexAtHand(index)


def sheet_of_index(run: Run, rows: Callable[[NeuronIndex], list[Row]]) -> Sheet:
    """A neuron's rows from the index, or what is said in their place; and ways to another."""
    known = index_with_notes(run)
    shown = [] if known.index is None else rows(known.index)
    notes = [row(known.notes)] if known.notes else []
    return Sheet([*notes, *shown], [*neuron_controls(run), *known.controls])


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


def _which_blocks(run: Run, navigator: Navigator, index: NeuronIndex) -> None:
    """What the index has instead of the block on the screen, and the way to the nearest."""
    here, numbers = run.state.block, index.numbers
    st.info(
        f"This index has block{'s' * (len(numbers) > 1)} {in_words(numbers)} of "
        f"{run.model.sizes.n_blocks}; block {here + 1} is not in it."
    )
    before = [number for number in numbers if number < here][-1:]
    after = [number for number in numbers if number > here][:1]
    for number in before + after:
        st.button(
            f"Go to block {number + 1}", key=f"to-block-{number}", on_click=navigator.do,
            args=(ChooseBlock(number),),
        )  # fmt: skip
