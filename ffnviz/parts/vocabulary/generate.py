"""Write on: words are appended one at a time, and each step can be looked into."""

from dataclasses import replace

import numpy as np

from ffnviz.analysis.vocabulary.decoding import Strategy, distribution
from ffnviz.analysis.vocabulary.writing import Writing, begin, logits_before, no_text, write_word
from ffnviz.figures.vocabulary.writing import steps
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Button, Sheet, row, set_to
from ffnviz.parts.vocabulary.strategy import bars_of, controls, strategy
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import Set, ShowState
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting

MOST = 128
WORDS = count_setting("words", 6, 0, MOST)
STEP = count_setting("step", 0, 0, MOST)  # from 1; 0 is the last
MANY = 10


def sheet(run: Run, values: Values) -> Sheet:
    """The text, its words, and one step's choice."""
    if run.card.causal and not run.state.sentence.strip():
        note = "This network goes on from a word. Type one first."
        return Sheet([row(text_cell("no-words", note, tone="info"))], [])
    how = strategy(values)
    written = write(run, how, values[WORDS])
    cells = [text_cell(
        "full", "The network reads no more than this; start over, or shorten the sentence."
    )] if written.full else []  # fmt: skip
    if written.steps:
        looked_at = min(values[STEP] or len(written.steps), len(written.steps)) - 1
        cells += [the_text(run, written, looked_at), one_step(run, written, how, looked_at)]
    else:
        cells.append(_how_it_writes(run))
    return Sheet([row(cells)], [*controls(values), *_buttons(run, values, written)])


def write(run: Run, how: Strategy, n_words: int) -> Writing:
    """The text with so many words behind it; no word is computed twice."""
    texts: dict[int, Writing] = run.subject.per_sentence(("written", how), dict)
    for n in range(n_words + 1):
        if n not in texts:
            texts[n] = (
                write_word(run.model, texts[n - 1], how) if n
                else begin(run.model, run.state.sentence)
            )  # fmt: skip
    return texts[n_words]


def _buttons(run: Run, values: Values, written: Writing) -> list[Button]:
    """Write, take over, begin again."""

    def words(n: int) -> Set:
        return Set({WORDS.name: str(min(MOST, n)), STEP.name: None})

    n = len(written.steps)
    own = tuple(values.but(WORDS, 0).but(STEP, 0).texts.items())
    taken_over = ShowState(replace(run.state, sentence=written.text, token=None, settings=own))
    return [
        Button("Write a word", None if written.full else words(n + 1)),
        Button(f"Write {MANY}", None if written.full else words(n + MANY)),
        Button("Use as my sentence", taken_over if n else None),
        Button("Start over", words(0) if n else None),
    ]


def _how_it_writes(run: Run) -> Cell:
    how = (
        "a [MASK] is put behind your sentence and filled. If the sentence ends with [MASK], "
        "that one is filled."
        if run.card.has_mask
        else "the network says which word comes next, reads it too, and goes on from there."
    )
    return text_cell("no-words", f"Press “Write a word”: {how}", tone="info")


def the_text(run: Run, written: Writing, looked_at: int) -> Cell:
    """What is written, its words as bars."""
    shares = np.array([step.probability for step in written.steps])
    sentence: Sentence = [quoted(written.start), " ", number(written.written.strip())]
    return chart_cell(
        Head(sentence, "write", run.card.colour),
        steps([step.word for step in written.steps], shares, looked_at, run.card.colour),
        "The probability of each written word.",
        key="written",
        height=270,
        on_choose=lambda step: set_to(STEP, step + 1),
    )


def one_step(run: Run, written: Writing, how: Strategy, place: int) -> Cell:
    """The distribution one word was picked from."""
    step = written.steps[place]
    after = distribution(logits_before(run.model, written, place), how, no_text(run.model))
    rank = int((after.order == step.id).argmax()) + 1
    sentence: Sentence = [
        f"Word {place + 1}, ", number(f"“{step.word.strip() or '␣'}”"), ", had ",
        number(percent(step.probability)), f" and was number {rank:,} of the {step.n_kept:,} words "
        f"kept; before the cut the entropy was {step.entropy:.1f} bits.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "step", run.card.colour, under=under_guess(run, warn=False)),
        bars_of(run, "softmax", after),
        "The ten likeliest words at this step, before the cut and after it.",
        key="step",
        height=370,
    )
