"""Generate text: words are appended one at a time, and each step can be inspected."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.writing import (
    GeneratedToken,
    Generation,
    Strategy,
    begin,
    distribution,
    logits_before,
    no_text,
    write_word,
)
from ffnviz.models.network import Network
from ffnviz.parts.guess import under_guess
from ffnviz.parts.sheet import Button, Measured, Measurement, Row, Sheet, Soon, row, set_to
from ffnviz.parts.vocabulary.softmax import bars_of, controls, strategy
from ffnviz.pictures import plot
from ffnviz.pictures.bars import bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import number, percent, quoted
from ffnviz.state.actions import Set, ShowState
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting


def steps(written: Sequence[GeneratedToken], chosen: int, twin: str) -> Figure:
    """A bar a word; the chosen one in the accent."""
    places = np.arange(len(written))
    names = [step.word.strip() or "␣" for step in written]
    shares = 100 * np.array([step.probability for step in written])
    colours = [f"@{twin}" if place == chosen else "@muted/0.6" for place in places]
    said = {"text": list(map(plot.escaped, names)), "textposition": "none", "customdata": places}
    hover = "%{text} %{y:.1f}%<extra></extra>"
    return plot.figure(
        [plot.bar_trace("written", places, shares, colours, hovertemplate=hover, **said)],
        plot.bare_axis(
            "word", **plot.some_named(names, 40), range=[-0.7, max(len(names), 6) - 0.3]
        ),
        plot.axis("probability, %", range=[0, 102]),
        bargap=0.25,
        hovermode="x",  # a click anywhere above a small bar finds it
        margin={"l": 70, "r": 20, "t": 12, "b": 80},
    )


MOST = 128
AT_ONCE = 20  # words that a page waits for
WORDS = count_setting("words", 6, 0, MOST)
STEP = count_setting("step", 0, 0, MOST)  # from 1; 0 is the last
MANY = 10


def sheet(run: Run, values: Values) -> Sheet:
    """The text, its words, and one step's choice; many words are written in the background."""
    if run.card.causal and not run.state.sentence.strip():
        note = "This network needs a word to go on from. Type one first."
        return Sheet([row(text_cell("no-words", note, tone="info"))], [])
    how, n = strategy(values), values[WORDS]
    if n - _known(run, how, n) <= AT_ONCE:
        written = write(run, lambda _: None, how, n)
        buttons = _buttons(run, values, written)
        return Sheet([shown(run, values, how, written)], [*controls(values), *buttons])
    setup = (run.card.id, run.device, run.state.sentence, how, n)
    before = [row(Soon("write", f"{n} words, one after the other", 270))]

    def after(measured: Measured[Generation]) -> Sequence[Row]:
        _texts(run, how)[n] = measured.result
        return [shown(run, values, how, measured.result)]

    words = (f"Write {n} words", "Writing …")
    work = Measurement("write", setup, write, after, (how, n), before, *words, on_request=True)
    return Sheet([work], [*controls(values), *_buttons(run, values, None)])


def shown(run: Run, values: Values, how: Strategy, written: Generation) -> Row:
    """The text, and the chosen step."""
    n = len(written.steps)
    if not n:
        then = "the network predicts the next word, reads it too, and goes on from there."
        if run.card.has_mask:
            then = (
                "the network fills a [MASK] at the end of your sentence, then another, and so on."
            )
        return row(text_cell("no-words", f"Press “Write a word”: {then}", tone="info"))
    step = min(values[STEP] or n, n) - 1
    cells = [the_text(run, written, step), one_step(run, written, how, step)]
    if written.full:
        note = "The network reads no more than this; start over, or shorten the sentence."
        cells.insert(0, text_cell("full", note))
    return row(cells)


def write(run: Run, progress: Progress, how: Strategy, n_words: int) -> Generation:
    """Append words up to that number; no word is computed twice."""
    texts, first = _texts(run, how), _known(run, how, n_words)
    for n in range(first, n_words):
        progress((n - first) / (n_words - first))
        texts[n + 1] = write_word(run.model, texts[n], how, partial(_logits, run))
    return texts[n_words]


def _texts(run: Run, how: Strategy) -> dict[int, Generation]:
    """The texts written so far, by their number of words."""
    return run.subject.per_sentence(
        ("written", how), lambda: {0: begin(run.model, run.state.sentence)}
    )


def _logits(run: Run, model: Network, writing: Generation, step: int) -> Array:
    """As `logits_before`: another temperature or cut often writes some of the same words."""
    return run.subject.per_sentence(
        ("logits behind", writing.ids_before(step)), lambda: logits_before(model, writing, step)
    )


def _known(run: Run, how: Strategy, n_words: int) -> int:
    """How many of so many words are already written."""
    return max(n for n in _texts(run, how).copy() if n <= n_words)


def _buttons(run: Run, values: Values, written: Generation | None) -> list[Button]:
    """Write, use, start over; `written` is None until the text is."""

    def words(n: int) -> Set:
        return Set({WORDS.name: str(min(MOST, n)), STEP.name: None})

    def take_over() -> ShowState | None:
        text = written or _texts(run, strategy(values)).get(values[WORDS])
        own = tuple(values.but(WORDS, 0).but(STEP, 0).texts.items())
        if text is None:
            return None
        return ShowState(replace(run.state, sentence=text.text, token=None, settings=own))

    n = len(written.steps) if written else values[WORDS]
    full = written is not None and written.full
    return [
        Button("Write a word", None if full else words(n + 1)),
        Button(f"Write {MANY}", None if full else words(n + MANY)),
        Button("Use as my sentence", take_over if n else None),
        Button("Start over", words(0) if n else None),
    ]


def the_text(run: Run, written: Generation, chosen: int) -> Cell:
    """The text, with the probability of each written word as a bar."""
    sentence = f"{quoted(written.start)} {number(written.written.strip())}"
    return chart_cell(
        Head(sentence, "write", run.card.colour),
        steps(written.steps, chosen, run.card.colour),
        "The probability of each written word.",
        key="written",
        height=270,
        on_choose=lambda step: set_to(STEP, step + 1),
    )


def one_step(run: Run, written: Generation, how: Strategy, place: int) -> Cell:
    """The distribution from which one word was picked."""
    step = written.steps[place]
    after = distribution(_logits(run, run.model, written, place), how, no_text(run.model))
    rank = int((after.order == step.id).argmax()) + 1
    ranked = f"number {rank:,} of the {step.n_kept:,} words kept"
    if step.n_kept == 1:
        ranked = "the only word kept"
    sentence = (
        f"Word {place + 1}, “{step.word.strip() or '␣'}”, had a probability of "
        f"{number(percent(step.probability))} and was {ranked}; before the cut, the entropy was "
        f"{step.entropy:.1f} bits."
    )
    head = Head(sentence, "step", run.card.colour, under=under_guess(run, warn=False))
    alt = "The ten likeliest words at this step, before the cut and after it."
    return bars_cell(head, bars_of(run, "softmax", after), alt=alt)
