"""A network's guess wherever one is shown: its bars, and what to know of it."""

import re
from collections.abc import Sequence
from itertools import pairwise
from string import capwords
from typing import NamedTuple

from ffnviz.analysis.journey import Word, words_of
from ffnviz.analysis.prediction import Prediction
from ffnviz.analysis.sparsity import record_of
from ffnviz.models.encoder.model import TWINS
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.sentences import HIDDEN, NEXT, SHOWN, of_the_question
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.wording import Sentence, listed, quoted, spare, typed
from ffnviz.state.run import Run, TracedModel

_LETTERS = re.compile(r"[^\W\d_]+")


class Split(NamedTuple):
    """A word of several tokens."""

    word: str  # as typed, letters only: don't is two words, as tokenizers split it there anyway
    # the typed characters of each token in it; "" for one within the character before it
    pieces: tuple[str, ...]


def split_words(sentence: str, tokens: Sequence[Token]) -> list[Split]:
    """The words of more than one token in their order, each spelling once."""
    typed = [token for token in tokens if not token.special]
    words: dict[str, Split] = {}
    for word in _LETTERS.finditer(sentence):
        start, end = word.span()
        pieces = [
            sentence[max(start, token.start) : min(end, token.end)]
            for token in typed
            if start < token.end and (token.start < end or token.start == token.end == end)
        ]
        if len(pieces) > 1:
            words.setdefault(word[0].lower(), Split(word[0], tuple(pieces)))
    return list(words.values())


def read_in_bytes(tokens: Sequence[Token]) -> list[str]:
    """The typed characters of several tokens (the first has the text), each once, in order."""
    seen: dict[str, None] = {}
    for before, token in pairwise([token for token in tokens if not token.special]):
        if before.text and not token.text:
            seen.setdefault(before.text[-1])
    return list(seen)


MOST = 3  # words


def of_what_it_read(books: Sequence[str], besides: Sequence[str] = ()) -> Sentence:
    """The books that a network was trained on, by file names in alphabetical order, if known."""
    if not books:
        return ""
    names = books[0], books[-1]
    first, last = [typed(capwords(re.sub("[-_]", " ", name))) for name in names]
    one = len(books) == 1
    read = f"one book ({first})" if one else f"{len(books):,} books (from {first} to {last})"
    return f"It has read only {listed([read, *besides])}. "


def of_bytes(characters: Sequence[str], english: bool) -> Sentence:
    """Characters that are not tokens, so they are read as the bytes a computer writes them with."""
    if not characters:
        return ""
    more = len(characters) - 1
    others = f" and {more:,} more" if more else ""
    return (
        f"{'It has read English only. ' if english else ''}It has no token for "
        f"{quoted(characters[0])}{others}: it reads {'them' if more else 'it'} byte by byte, and "
        "“…” stands for each further byte. "
    )


def of_pieces(words: Sequence[Split]) -> Sentence:
    """Words that are not tokens, and what of each the network reads as one."""
    sentence = ""
    for place, (word, pieces) in enumerate(words[:MOST]):
        sentence += f"{', ' if place else 'It reads '}{quoted(word)}"
        seen = [piece for piece in pieces if piece]
        sentence += f" as {typed(' + '.join(seen))}" if seen[1:] else f" in {len(pieces)} pieces"
    if len(words) > MOST:
        sentence += f", and {len(words) - MOST:,} more in pieces"
    return f"{sentence}. " if sentence else ""


def of_no_question(label: str) -> Sentence:
    """A remark that a guess at a visible word means little."""
    return f"{quoted(label)} is not hidden, so a guess at it means little. "


def under_guess(run: Run, traced: TracedModel | None = None, warn: bool = True) -> Sentence:
    """The line under a guess: that no word is hidden at the token, and what it cannot read.

    With `warn`, where a word is hidden, the line keeps the room of that warning.
    """
    traced = traced or run.subject
    warning = room = ""
    if warn and asked(run) == SHOWN:
        warning = question(run) or of_no_question(run.labels[run.token])
    elif warn and asked(run) == HIDDEN:
        room = spare(of_no_question(max(run.labels, key=len)))
    tokens = traced.whole.tokens
    in_bytes = read_in_bytes(tokens)
    read = of_bytes(in_bytes, traced.card.id in TWINS) or what_it_read(traced)
    split = split_words(traced.text, tokens)
    in_pieces = [each for each in split if set(each.word).isdisjoint(in_bytes)]
    return f"{warning}{read}{of_pieces(in_pieces)}{room}"


def what_it_cannot_read(traced: TracedModel) -> Sentence:
    """Which characters it reads as bytes; nothing if it has a token for all that are typed."""
    return of_bytes(read_in_bytes(traced.whole.tokens), traced.card.id in TWINS)


def what_it_read(traced: TracedModel) -> Sentence:
    """What it was trained on; nothing if nobody knows."""
    try:
        record = record_of(traced.network)
    except NotForThisNetwork:
        return ""
    return of_what_it_read(record.books, record.besides)


def guess_cell(
    run: Run,
    sentence: Sentence,
    note: str,
    guesses: Sequence[tuple[str, Prediction, str]],
    alt: str,
    key: str = "",
    traced: TracedModel | None = None,
) -> Cell:
    """The likeliest words at the chosen token: a panel a guess, with a title and a colour."""
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
