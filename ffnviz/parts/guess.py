"""A network's guess wherever one is shown: its bars, and what to know of it."""

from collections.abc import Sequence

from ffnviz.analysis.journey.hiding import Word, words_of
from ffnviz.analysis.pieces import read_in_bytes, split_words
from ffnviz.analysis.prediction import Prediction
from ffnviz.analysis.sparsity.record import record_of
from ffnviz.figures.guess import of_bytes, of_no_question, of_pieces, of_what_it_read
from ffnviz.figures.journey.sentences import HIDDEN, NEXT, SHOWN, of_the_question
from ffnviz.figures.wording import Sentence, spare
from ffnviz.models.encoder.model import TWINS
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run, TracedModel


def under_guess(run: Run, traced: TracedModel | None = None, warn: bool = True) -> Sentence:
    """The line under a network's guess at the chosen token; the subject's if `traced` is None.

    Where no word is hidden, it warns of that, unless `warn` is false; elsewhere it keeps the room.
    """
    traced = traced or run.subject
    warning: Sentence = []
    room: Sentence = []
    if warn and asked(run) == SHOWN:
        warning = question(run) or of_no_question(run.labels[run.token])
    elif warn and asked(run) == HIDDEN:
        room = [spare(of_no_question(max(run.labels, key=len)))]
    tokens = traced.whole.tokens
    in_bytes = read_in_bytes(tokens)
    read = what_it_cannot_read(traced) or what_it_read(traced)
    words = [(split.word, split.pieces) for split in split_words(traced.text, tokens)
             if not set(split.word) & set(in_bytes)]  # fmt: skip
    return [*warning, *read, *of_pieces(words), *room]


def what_it_cannot_read(traced: TracedModel) -> Sentence:
    """Which characters it reads as bytes; nothing if it has a token for all that are typed."""
    english = traced.card.id in TWINS
    return of_bytes(read_in_bytes(traced.whole.tokens), english)


def what_it_read(traced: TracedModel) -> Sentence:
    """What it was trained on; nothing if nobody knows."""
    return of_what_it_read(*_training_texts(traced.network))


def guess_cell(
    run: Run,
    sentence: Sentence,
    note: str,
    guesses: Sequence[tuple[str, Prediction, str]],
    alt: str,
    key: str = "",
    traced: TracedModel | None = None,
) -> Cell:
    """The likeliest words at the chosen token, of one or of several predictions.

    Each guess has a panel with its title and its colour. The first is a guess of `traced`, which is
    the subject if None; sentence and note make the Head, alt and key are those of bars_cell.
    """
    colour = (traced or run.subject).card.colour
    panels = [Bars(title, p.words, p.probabilities, shade) for title, p, shade in guesses]
    return bars_cell(Head(sentence, note, colour, under=under_guess(run, traced)), panels, key, alt)


def asked(run: Run) -> str:
    """What the prediction at the chosen token is of: see sentences.of_prediction."""
    if run.trace.tokens[run.token].id == run.model.tokenizer.mask_id and run.card.has_mask:
        return HIDDEN
    return NEXT if run.card.causal else SHOWN


def question(run: Run) -> Sentence:
    """What to do if no word is hidden; nothing if one is, or if the network guesses none."""
    tokens, mask = run.trace.tokens, run.model.tokenizer.mask_id
    n_hidden = sum(token.id == mask for token in tokens) if _guesses(run) else None
    can_hide = words_to_hide(run)[run.token] is not None
    return of_the_question(run.state.sentence, n_hidden, can_hide)


def words_to_hide(run: Run) -> list[Word | None]:
    """For each token the word that [MASK] can take the place of, if the network guesses any."""
    tokens = run.trace.tokens
    return words_of(run.state.sentence, tokens) if _guesses(run) else [None] * len(tokens)


def _guesses(run: Run) -> bool:
    """Whether the network guesses hidden words."""
    return run.card.has_mask and run.card.has_word_head


def _training_texts(network: Network) -> tuple[tuple[str, ...], list[str]]:
    try:
        record = record_of(network)
    except NotForThisNetwork:
        return (), []
    besides = {"encyclopedia articles": record.articles, "everyday sentences": record.sentences}
    return record.books, [text for text, read in besides.items() if read]
