"""The class brain: what the networks make of all the sentences that a class has sent."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import streamlit as st

from ffnviz.analysis.neurons.pool import WORDS, Pool, Woken, read_pool
from ffnviz.analysis.spread import Progress, subprogress
from ffnviz.app import measuring
from ffnviz.app.lecture.classroom import BRAIN, lecturer_of
from ffnviz.app.session import Session
from ffnviz.figures.layout import isolated, shortened
from ffnviz.figures.wording import Sentence as Words
from ffnviz.figures.wording import neuron_name, number, percent
from ffnviz.lecture.classroom.errors import GONE, ClassStoreError, NoSuchClassError
from ffnviz.lecture.classroom.live_class import Sentence
from ffnviz.lecture.classroom.store import server_store
from ffnviz.parts.sheet import Button, Measurement, Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sentences import Guess, Line, sentences_cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import OpenNeuron, OpenPage
from ffnviz.state.run import Run, token_labels

LONGEST = 60  # letters, of the words that a neuron fires at


def is_open() -> bool:
    """Whether the lecturer looks at it."""
    return bool(st.session_state.get(BRAIN)) and lecturer_of() is not None


def brain(session: Session, run: Run) -> Sheet:
    """The sentences with their guesses, and below what they share."""
    led = lecturer_of()
    if led is None:
        return Sheet([])
    try:
        sent = server_store().sentences(led[0])
    except NoSuchClassError:
        return _only("The class is over.")
    except ClassStoreError:
        return replace(_only(GONE), controls=[Button("Try again", lambda: None)])
    if not sent:
        return _only("No sentence has come yet. Students send one from the line above their page.")
    shown = [each for each in sent if not each.hidden]
    if not shown:
        return Sheet([row(sentence_list(session, run, sent, led, {}))], [])
    texts = tuple(each.text for each in shown)
    # What is kept for later knows the sentences by a sum only.
    summed = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    # Other sentences, and by another network, are read by themselves, too.
    name = f"class-brain-{run.card.id}-{run.state.block}-{summed[:16]}"
    measuring.forget("class-brain-", but=name)
    measurement = Measurement(
        name,
        (run.card.id, run.state.block, summed),
        read_all,
        lambda measured: [
            row(sentence_list(session, run, sent, led, measured.result)),
            row(shared_neurons(session, run, texts, measured.result[run.card.id])),
        ],
        (texts,),
        before=[row(sentence_list(session, run, sent, led, {}))],
        label="Try again",
        doing=f"{counted(len(texts), 'sentence')}, {counted(len(run.both), 'network')} …",
        once=True,
    )
    return Sheet([measurement], [])


def _only(words: str) -> Sheet:
    return Sheet([row(text_cell("class-brain", words, tone="info"))], [])


def counted(n: int, what: str) -> str:
    """How many, in words."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def read_all(run: Run, progress: Progress, texts: tuple[str, ...]) -> dict[str, Pool]:
    """Each network's, by its id."""
    both = run.both
    return {
        setup.card.id: read_pool(
            setup.network, texts, run.state.block, subprogress(progress, place, len(both))
        )
        for place, setup in enumerate(both)
    }


def sentence_list(
    session: Session,
    run: Run,
    sent: Sequence[Sentence],
    led: tuple[str, str],
    pools: dict[str, Pool],
) -> Cell:
    """All of them with their guesses; those that are hidden come last."""
    shown = [each for each in sent if not each.hidden]
    sentence: Words = [number(counted(len(shown), "sentence"))]
    for setup in run.both if pools else ():
        share = float(pools[setup.card.id].shares.mean())
        sentence += [
            f"; {setup.card.label} has ",
            number(percent(share), setup.card.colour),
            " active",
        ]
    block = f" in block {run.state.block + 1}" if pools else ""
    lines = [
        line_of(each, guesses_of(run, pools, place), read=bool(pools))
        for place, each in enumerate(shown)
    ] + [Line(each.number, each.text, True, ()) for each in sent if each.hidden]
    return sentences_cell(
        Head([*sentence, f"{block}."], "class-sentences", run.card.colour),
        lines,
        key="class-sentences",
        on_open=lambda chosen: open_sentence(session, sent, chosen),
        on_hide=lambda chosen: _hide(led, sent, chosen),
    )


def line_of(each: Sentence, guesses: list[Guess], *, read: bool) -> Line:
    """A sentence with what is guessed there, or why nothing is."""
    why = "" if guesses or not read else "No [MASK], so nothing to guess"
    return Line(each.number, each.text, hidden=False, guesses=guesses, remark=why)


def guesses_of(run: Run, pools: dict[str, Pool], place: int) -> list[Guess]:
    """What the networks guess at one of the sentences that were read."""
    return [
        Guess(setup.card.label, setup.card.colour, *guess)
        for setup in run.both
        if pools and (guess := pools[setup.card.id].guesses[place]) is not None
    ]


def shared_neurons(session: Session, run: Run, texts: Sequence[str], pool: Pool) -> Cell:
    """The neurons that most sentences activate, each with the words that do."""
    most = pool.woken[0] if pool.woken else None
    sentence: Words = (
        ["They share no active neuron."] if most is None
        else ["What they share: neuron ", number(f"{run.state.block + 1}:{most.neuron}"),
              " is active in ", number(f"{most.sentences} of {len(texts)}"),
              ". Click a bar to meet its neuron."]
    )  # fmt: skip
    woken = pool.woken
    bars = Bars(
        "", [neuron_name(run.state.block, each.neuron) for each in woken],
        np.array([each.mean for each in woken]), run.card.colour,
        np.array([each.neuron for each in woken], dtype=np.int64),
        said=[f"in {each.sentences} of {len(texts)}: "
              f"{isolated(shortened(words_of(run, texts, each), LONGEST))}" for each in woken],
    )  # fmt: skip
    return bars_cell(
        Head(sentence, "class-neurons", run.card.colour),
        [bars],
        key="class-neurons",
        alt="The neurons that most of the sentences activate.",
        of="largest value in a sentence, on average; how many sentences activate it, and where",
        named="neuron",
        on_choose=lambda neuron: _meet(session, run, neuron),
    )


def words_of(run: Run, texts: Sequence[str], woken: Woken) -> str:
    """The words at which a neuron is strongest, each spelling once."""
    labels: dict[str, str] = {}
    for place, token in woken.strongest:
        tokens = run.model.tokenizer.encode(texts[place], run.model.sizes.max_tokens).tokens
        label = token_labels(tokens)[token]
        labels.setdefault(label.lower(), label)
    return ", ".join(list(labels.values())[:WORDS])


def open_sentence(session: Session, sent: Sequence[Sentence], chosen: int) -> None:
    """The Journey shows a student's sentence."""
    text = next((each.text for each in sent if each.number == chosen), None)
    if text is not None:
        _close()
        session.type(text)
        session.do(OpenPage("journey"))


def _meet(session: Session, run: Run, neuron: int) -> None:
    _close()
    session.do(OpenNeuron(run.neuron(neuron), "neurons", "wakes"))


def _hide(led: tuple[str, str], sent: Sequence[Sentence], chosen: int) -> None:
    hidden = next(each.hidden for each in sent if each.number == chosen)
    with suppress(NoSuchClassError, ClassStoreError):  # the page then says which
        server_store().hide(*led, chosen, not hidden)


def _close() -> None:
    st.session_state[BRAIN] = False
