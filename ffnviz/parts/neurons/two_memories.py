"""Two memories, one formula: attention's strongest keys beside the FFN's, and another word."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.two_memories import (
    Memory,
    attention_memory,
    ffn_memory,
    keys_moved,
)
from ffnviz.analysis.neurons.written import promoted_ids
from ffnviz.figures.wording import Sentence, neuron_name, number, percent, quoted, signed
from ffnviz.models.trace import Trace
from ffnviz.parts.neuron_shown import open_neuron
from ffnviz.parts.sheet import Sheet, row
from ffnviz.parts.token_choice import token_choice, token_setting
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.table import table_cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import OpenNeuron
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Values, text_setting

ENTRIES = 8  # of each memory
WORDS = 3
CHANGED = token_setting("changed")
INSTEAD = text_setting("instead", "dog", longest=40).with_control("to")
SETTINGS = (CHANGED, INSTEAD)


@dataclass(frozen=True)
class Changed:
    """The sentence with another word.

    Attributes:
        trace: of it.
        token: the place of the chosen token there.
        pairs: of tokens that belong together, here and there, (n, 2).
        at: which token was changed.
    """

    trace: Trace
    token: int
    pairs: NDArray[np.int64]
    at: int


def sheet(run: Run, values: Values) -> Sheet:
    """One list of both memories' strongest entries, beside how far another word moves the keys."""
    attention = attention_memory(run.model, run.whole, run.state.block, run.place)
    ffn = ffn_memory(run.model, run.whole, run.state.block, run.place)
    at = token_to_change(run, values, attention)
    if at is None:
        alone = "The sentence has one token: there is no other word to change."
        same = Changed(run.whole, run.place, np.zeros((0, 2), dtype=np.int64), run.place)
        left = the_list(run, attention, ffn, same), text_cell("alone", alone, tone="info")
        return Sheet([row(*left, widths=(1.5, 1))], [])
    changed = with_another_word(run, at, values[INSTEAD])
    pictures = the_list(run, attention, ffn, changed), the_keys(run, values[INSTEAD], changed)
    others = [place for place in range(len(run.whole.tokens)) if place != run.place]
    choice = token_choice("Change", CHANGED, token_labels(run.whole.tokens), others, at)
    return Sheet([row(*pictures, widths=(1.5, 1))], [choice, INSTEAD])


def token_to_change(run: Run, values: Values, attention: Memory) -> int | None:
    """The token to change, by default the one attention reads most; None if there is no other."""
    others = [
        at
        for at, token in enumerate(run.whole.tokens)
        if at != run.place and token.end > token.start
    ]
    wanted = values[CHANGED] - 1
    if wanted in others:
        return wanted
    read = attention.written.norm(dim=-1).sum(dim=0)
    return max(others, key=lambda at: float(read[at]), default=None)


def with_another_word(run: Run, at: int, word: str) -> Changed:
    """The trace of the sentence with another word for one token."""
    token, text, n = run.whole.tokens[at], run.subject.text, len(run.whole.tokens)
    stretch = text[token.start : token.end]
    blank = stretch[: len(stretch) - len(stretch.lstrip())]  # a token may begin with its blank
    trace = run.model.trace(text[: token.start] + blank + word + text[token.end :])
    more = len(trace.tokens) - n  # where the word is more tokens, or none
    pairs = [(here, here if here <= at else here + more) for here in range(n)]
    kept = [pair for pair in pairs if pair[1] < len(trace.tokens) and (more >= 0 or pair[0] != at)]
    there = run.place if run.place < at else run.place + more
    return Changed(trace, min(max(there, 0), len(trace.tokens) - 1), np.array(kept), at)


def the_list(run: Run, attention: Memory, ffn: Memory, changed: Changed) -> Cell:
    """The strongest entries of both, the longest first."""
    block, labels = run.state.block, token_labels(run.whole.tokens)
    there = dict(changed.pairs.tolist())
    entries: list[tuple[float, list[str | float], int | None]] = []

    def add(memory: Memory, other: Memory, heads: bool) -> None:
        best = memory.strongest(ENTRIES)
        written = memory.written[tuple(best.T)]
        promoted = promoted_ids(run.model, written, WORDS)
        for place, vector, ids in zip(best.tolist(), written, promoted, strict=True):
            last, key = place[-1], tuple(place)
            name = f"“{labels[last]}”, head {place[0] + 1}" if heads else neuron_name(block, last)
            same = (*place[:-1], there.get(last, -1) if heads else last)
            then = "—" if same[-1] < 0 else round(float(other.weight[same]), 2)
            length = float(vector.norm())
            entries.append((length, [
                "attention" if heads else "FFN", name, round(float(memory.match[key]), 2),
                round(float(memory.weight[key]), 2),
                ", ".join(run.model.tokenizer.label(int(each)) for each in ids),
                round(length, 2), then,
            ], None if heads else last))  # fmt: skip

    there_is = run.model, changed.trace, block, changed.token
    add(attention, attention_memory(*there_is), True)
    add(ffn, ffn_memory(*there_is), False)
    entries.sort(key=lambda each: -each[0])
    sentence = [*_strongest(run, attention, ffn), f", and it writes {entries[0][1][4]}."]

    def opened(at: int) -> OpenNeuron | None:
        neuron = entries[at][2]
        return None if neuron is None else open_neuron(run, neuron)

    return table_cell(
        "memories", Head(sentence, "two-memories", run.card.colour),
        ("memory", "key", "match", "weight", "writes", "length", "weight then"),
        [each for _, each, _ in entries], opened,
    )  # fmt: skip


def the_keys(run: Run, word: str, changed: Changed) -> Cell:
    """How far the keys of each token are from those with the other word, and the FFN's."""
    block, labels = run.state.block, token_labels(run.whole.tokens)
    moved = keys_moved(run.whole, changed.trace, block, changed.pairs)
    names = [labels[int(here)] for here in changed.pairs[:, 0]]
    most = int(moved.argmax()) if len(moved) else 0
    d_ff = run.model.sizes.d_ff
    sentence: Sentence = [
        "With ", quoted(word), " for ", quoted(labels[changed.at]), ", attention's key of ",
        quoted(names[most]), " moves by ", number(percent(float(moved[most]))),
        f"; the FFN's {d_ff:,} keys are weights, and stay where they are.",
    ]  # fmt: skip
    shown = np.argsort(-moved)[:20]
    shown.sort()
    panel = Bars("", [*(names[at] for at in shown), f"FFN: {d_ff:,} keys"],
                 np.array([*100 * moved[shown], 0.0]),
                 [*[run.card.colour] * len(shown), "muted"])  # fmt: skip
    return bars_cell(
        Head(sentence, "keys-moved", run.card.colour), [panel],
        alt="How far attention's keys move when a word changes, and that the FFN's do not.",
        of="key moved, % of its length", named="key of",
    )  # fmt: skip


def _strongest(run: Run, attention: Memory, ffn: Memory) -> Sentence:
    """Which entry writes most, and how well its key matches."""
    sentence: Sentence = ["Both sum weight · value over keys. The strongest here is "]
    heard, neuron = attention.strongest(1)[0], ffn.strongest(1)[0]
    where = tuple(int(each) for each in heard)
    if attention.written[where].norm() < ffn.written[int(neuron[0])].norm():
        sentence.append(number(f"neuron {neuron_name(run.state.block, neuron[0])}"))
        return [*sentence, f": its key matches with {signed(float(ffn.match[int(neuron[0])]))}"]
    sentence += [number(f"head {where[0] + 1}"), " of attention at "]
    sentence += [quoted(token_labels(run.whole.tokens)[where[1]])]
    return [*sentence, f": its key matches with {signed(float(attention.match[where]))}"]
