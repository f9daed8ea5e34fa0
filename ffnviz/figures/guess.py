"""The quiet line under a guess: the books a network has read, and the words it reads in pieces."""

from collections.abc import Sequence

from ffnviz.figures.wording import Sentence, quoted

MOST = 3  # words


def of_what_it_read(books: Sequence[str], besides: Sequence[str] = ()) -> Sentence:
    """The books that a network was trained on; nothing if nobody knows.

    Args:
        books: their names, a file's each, in the order of the alphabet.
        besides: what else it was trained on.
    """
    if not books:
        return []
    end = ", ".join(["", *besides, "and nothing else. "])
    first, last = _title(books[0]), _title(books[-1])
    if len(books) == 1:
        return ["It has read one book, ", (first, "typed"), end]
    return [
        f"It has read {len(books):,} books, from ", (first, "typed"), " to ", (last, "typed"), end,
    ]  # fmt: skip


def of_bytes(characters: Sequence[str], english: bool) -> Sentence:
    """Characters that are no token, and so are read as the bytes that a computer writes them with.

    Args:
        characters: each once.
        english: whether the network is known to have read English only.
    """
    if not characters:
        return []
    others = f" and {len(characters) - 1:,} more" if characters[1:] else ""
    return [
        "It has read English only. " if english else "",
        "It knows no ", quoted(characters[0]), f"{others}: it reads such characters byte by byte, ",
        "and “…” is a further byte of one. ",
    ]  # fmt: skip


def _title(name: str) -> str:
    return " ".join(word.capitalize() for word in name.replace("-", " ").replace("_", " ").split())


def of_pieces(words: Sequence[tuple[str, Sequence[str]]]) -> Sentence:
    """Words that are no token.

    Args:
        words: each as typed, and the typed stretch of each of its tokens.
    """
    sentence: Sentence = []
    for place, (word, pieces) in enumerate(words[:MOST]):
        sentence += [", " if place else "It reads ", quoted(word)]
        seen = [piece for piece in pieces if piece]
        sentence += (
            [" as ", (" + ".join(seen), "typed")] if seen[1:] else [f" in {len(pieces)} pieces"]
        )
    if len(words) > MOST:
        sentence.append(f", and {len(words) - MOST:,} more in pieces")
    return [*sentence, ". "] if sentence else []


def of_no_question(label: str) -> Sentence:
    """A remark that a guess at a visible word means little."""
    return [quoted(label), " is not hidden, so a guess at it means little. "]
