"""What the networks make of all the sentences that a class has sent."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.measuring import Progress, subprogress
from ffnviz.analysis.prediction import predict
from ffnviz.analysis.sparsity import active, awake, threshold_for
from ffnviz.app import measuring
from ffnviz.app.session import Session
from ffnviz.app.visit import visit
from ffnviz.lecture.classroom.live_class import GONE, ClassStoreError, NoSuchClassError, Sentence
from ffnviz.lecture.classroom.store import server_store
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace
from ffnviz.parts.sheet import Button, Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.plot import isolated, shortened
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.tokens import Guess, Line, sentences_cell
from ffnviz.pictures.wording import counted, neuron_name, number, percent
from ffnviz.state.actions import OpenNeuron, OpenPage
from ffnviz.state.run import Run, token_labels

WORDS = 3  # shown of a neuron's strongest tokens, each in another spelling
NEURONS = 12


@dataclass(frozen=True)
class SharedNeuron:
    """A neuron and the sentences that activate it."""

    neuron: int
    sentences: int  # the number of those in which it is active on at least one token
    mean: float  # over all sentences, of its largest |hidden| in each
    strongest: tuple[tuple[int, int], ...]  # sentence and token, the strongest first


@dataclass(frozen=True)
class Pool:
    """One network on all sentences."""

    shares: NDArray[np.float64]  # of active values in each sentence, (n,), from 0 to 1
    # for each sentence, the likeliest word at its first [MASK], or after its end for a causal
    # network, and its probability; None where there is none
    guesses: tuple[tuple[str, float] | None, ...]
    shared: tuple[SharedNeuron, ...]  # active in most sentences first, then the strongest


@torch.no_grad()
def read_pool(
    network: Network, texts: Sequence[str], block: int, progress: Progress = lambda _: None
) -> Pool:
    """Run a network on each sentence; none may be empty."""
    threshold = threshold_for(network.card.phi)
    d_ff = network.sizes.d_ff
    shares, strongest = np.zeros(len(texts)), torch.zeros(len(texts), d_ff)
    tokens = torch.zeros(len(texts), d_ff, dtype=torch.long)
    guesses = []
    for place, text in enumerate(texts):
        trace = network.trace(text)
        guesses.append(_guess(network, trace))
        shares[place] = awake(trace, block, threshold).share
        largest = trace.blocks[block].ffn.hidden.float().cpu().abs().max(dim=0)
        strongest[place], tokens[place] = largest.values, largest.indices
        progress((place + 1) / len(texts))
    fires = active(strongest, threshold)  # (n, d_ff)
    fired, totals = fires.sum(dim=0), strongest.sum(dim=0)
    order = sorted(range(d_ff), key=lambda n: (-int(fired[n]), -float(totals[n])))[:NEURONS]
    shared = []
    for neuron in order:
        if fired[neuron] > 0:
            values = strongest[:, neuron].where(fires[:, neuron], 0)
            best = values.argsort(descending=True)[: 4 * WORDS].tolist()
            strongest_at = tuple(
                (place, int(tokens[place, neuron])) for place in best if values[place] > 0
            )
            mean = float(totals[neuron]) / len(texts)
            shared.append(SharedNeuron(neuron, int(fired[neuron]), mean, strongest_at))
    return Pool(shares, tuple(guesses), tuple(shared))


def _guess(network: Network, trace: Trace) -> tuple[str, float] | None:
    masks = [at for at, token in enumerate(trace.tokens) if token.id == network.tokenizer.mask_id]
    at = masks[0] if masks else len(trace.tokens) - 1 if network.card.causal else None
    if at is None or not network.card.has_word_head:
        return None
    likeliest = predict(network, trace, at, 1)
    return likeliest.words[0], float(likeliest.probabilities[0])


LONGEST = 60  # letters, of the words that a neuron fires at


def brain(session: Session, run: Run) -> Sheet:
    """The sentences with their guesses, and below what they share."""
    led = visit().led
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
    waiting = sum(each.hidden for each in sent)
    sent = [each for each in sent if not each.hidden]
    if not sent:
        come = counted(waiting, "sentence") + (" has come." if waiting == 1 else " have come.")
        read = "“Read the sentences”, above, opens a window of your own"
        return _only(f"{come} {read}: what you let through there is shown here.")
    texts = tuple(each.text for each in sent)
    # The results that are kept know the sentences by their digest only.
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    # Other sentences, or another network, make another measurement.
    name = f"class-brain-{run.card.id}-{run.state.block}-{digest[:16]}"
    measuring.forget("class-brain-", but=name)

    def shown(measured: Measured[dict[str, Pool]]) -> list[Row]:
        rows = [row(sentence_list(session, run, sent, led, measured.result))]
        if len(texts) > 1:
            rows.append(row(shared_neurons(session, run, texts, measured.result[run.card.id])))
        return rows

    soon = [row(Soon("class-neurons", "What they share", 300))] if len(texts) > 1 else []
    measurement = Measurement(
        name,
        (run.card.id, run.state.block, digest),
        read_all,
        shown,
        (texts,),
        before=[row(sentence_list(session, run, sent, led, {})), *soon],
        label="Try again",
        doing=f"{counted(len(texts), 'sentence')}, {counted(len(run.both), 'network')} …",
        once=True,
    )
    return Sheet([measurement], [])


def _only(words: str) -> Sheet:
    return Sheet([row(text_cell("class-brain", words, tone="info"))], [])


def read_all(run: Run, progress: Progress, texts: tuple[str, ...]) -> dict[str, Pool]:
    """What each network makes of the sentences, by its id."""
    both = run.both
    return {
        traced.card.id: read_pool(
            traced.network, texts, run.state.block, subprogress(progress, place, len(both))
        )
        for place, traced in enumerate(both)
    }


def sentence_list(
    session: Session,
    run: Run,
    sent: Sequence[Sentence],
    led: tuple[str, str],
    pools: dict[str, Pool],
) -> Cell:
    """All sentences on the wall with their guesses."""
    sentence = number(counted(len(sent), "sentence"))
    for place, traced in enumerate(run.both if pools else ()):
        share = percent(float(pools[traced.card.id].shares.mean()))
        sentence += f"{', ' if place else ': '}{number(share, traced.card.colour)} of "
        sentence += f"{traced.card.label}'s"
        sentence += "" if place else f" neurons are active in block {run.state.block + 1}"
    lines = [line_of(run, each, pools, place) for place, each in enumerate(sent)]
    texts = {each.number: each.text for each in sent}

    def look(chosen: int) -> None:
        visit().shows_sentences = False
        session.type(texts[chosen])
        session.do(OpenPage("journey"))

    def hide(chosen: int) -> None:
        with suppress(NoSuchClassError, ClassStoreError):  # the page then says which
            server_store().hide(*led, chosen)

    head = Head(f"{sentence}.", "class-sentences", run.card.colour)
    return sentences_cell(head, lines, key="class-sentences", on_open=look, on_hide=hide)


def line_of(run: Run, sentence: Sentence, pools: dict[str, Pool], place: int) -> Line:
    """A sentence with the networks' guesses at its place in the pools, or why there are none."""
    guesses = [
        Guess(traced.card.label, traced.card.colour, *guess)
        for traced in run.both
        if pools and (guess := pools[traced.card.id].guesses[place]) is not None
    ]
    why = "No word is hidden by ___, so there is nothing to guess" if pools and not guesses else ""
    tokens = run.model.tokenizer.encode(sentence.text, run.model.sizes.max_tokens)
    if tokens.n_left_out:
        why = f"Only its first {len(tokens.tokens)} tokens are read"
    return Line(sentence.number, sentence.text, guesses, why)


def shared_neurons(session: Session, run: Run, texts: Sequence[str], pool: Pool) -> Cell:
    """The neurons that most sentences activate, each with the words that do."""
    shared, block = pool.shared, run.state.block
    sentence = "They share no active neuron."
    if shared:
        sentence = (
            f"What they share: neuron {number(neuron_name(block, shared[0].neuron))} is active in "
            f"{number(f'{shared[0].sentences} of {len(texts)}')}. Click a bar to meet its neuron."
        )

    def meet(neuron: int) -> None:
        visit().shows_sentences = False
        session.do(OpenNeuron(run.neuron(neuron), "neurons", "wakes"))

    names = [neuron_name(block, each.neuron) for each in shared]
    said = [
        f"in {each.sentences} of {len(texts)}: "
        f"{isolated(shortened(words_of(run, texts, each), LONGEST))}"
        for each in shared
    ]
    means = np.array([each.mean for each in shared])
    ids = np.array([each.neuron for each in shared], dtype=np.int64)
    return bars_cell(
        Head(sentence, "class-neurons", run.card.colour),
        [Bars("", names, means, run.card.colour, ids, said=said)],
        alt="The neurons that are activated by the most sentences.",
        of="largest value in a sentence, on average; how many sentences activate it, and where",
        named="neuron",
        on_choose=meet,
    )


def words_of(run: Run, texts: Sequence[str], shared: SharedNeuron) -> str:
    """The words at which a neuron is strongest, each once whatever its case."""
    labels: dict[str, str] = {}
    for place, token in shared.strongest:
        tokens = run.model.tokenizer.encode(texts[place], run.model.sizes.max_tokens).tokens
        label = token_labels(tokens)[token]
        labels.setdefault(label.lower(), label)
    return ", ".join(list(labels.values())[:WORDS])
