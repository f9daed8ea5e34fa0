"""How the books of our networks spell what keyboards, telephones and word processors type.

Project Gutenberg's books, as plain text, have straight quotation marks, -- for a dash, three full
stops for an ellipsis, and one kind of space. Our tokenizer reads other characters for these as
such, one character for one where possible. Characters without a glyph are not read.
"""

import re
from collections.abc import Sequence

SINGLE_QUOTES = "‘’‚‛‹›′ʼʻ´`"  # with the prime, and the accents that German keyboards type for ’
DOUBLE_QUOTES = "“”„‟«»″"
HYPHENS = "\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{FIGURE DASH}\N{MINUS SIGN}"
DASHES = "\N{EM DASH}\N{HORIZONTAL BAR}"
EN_DASH = "\N{EN DASH}"  # a hyphen in 1914–18, a dash beside a space
NO_BREAK_SPACES = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
SPACES = "".join(map(chr, range(0x2000, 0x200B))) + "\N{MEDIUM MATHEMATICAL SPACE}\u3000"
# Where one may break a word, which way it runs, how an emoji is joined and drawn.
UNSEEN = (
    "\N{SOFT HYPHEN}\N{ZERO WIDTH SPACE}\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
    "\N{LEFT-TO-RIGHT MARK}\N{RIGHT-TO-LEFT MARK}\u202a\u202b\u202c\u202d\u202e\N{WORD JOINER}"
    "\u2066\u2067\u2068\u2069\N{VARIATION SELECTOR-15}\N{VARIATION SELECTOR-16}"
    "\N{ZERO WIDTH NO-BREAK SPACE}"
)
SURROGATES = "\ud800-\udfff"  # halves of an emoji, no characters alone; a range of a pattern

READ_AS = {
    **dict.fromkeys(SINGLE_QUOTES, "'"),
    **dict.fromkeys(DOUBLE_QUOTES, '"'),
    **dict.fromkeys(HYPHENS, "-"),
    **dict.fromkeys(DASHES, "--"),
    "…": "...",
    **dict.fromkeys(NO_BREAK_SPACES + SPACES, " "),
    **dict.fromkeys(UNSEEN, ""),
}
# French puts a no-break space inside its quotation marks and before these; the books do not.
OPENING, CLOSING = frozenset("«‹"), frozenset("»›?!;:")
_TYPED = re.compile(f"[{EN_DASH}{''.join(READ_AS)}{SURROGATES}]")


def as_read(text: str) -> str:
    """A typed text in the books' spelling; one that is in it already stays as it is."""
    return _TYPED.sub(_as_read, text)


def as_read_with_ends(text: str) -> tuple[str, Sequence[int]]:
    """The same, and for n = 0, 1, … where in the typed text its first n characters end.

    All characters that one typed character is read as end where it ends. One that is not read
    belongs to the next, or at the end of the text to the last.
    """
    read: list[str] = []
    ends = [0]
    at = 0
    for typed in _TYPED.finditer(text):
        spelt = _as_read(typed)
        read += [text[at : typed.start()], spelt]
        ends += [*range(at + 1, typed.start() + 1), *[typed.end()] * len(spelt)]
        at = typed.end()
    if not at:
        return text, range(len(text) + 1)
    read.append(text[at:])
    ends += range(at + 1, len(text) + 1)
    ends[-1] = len(text)
    return "".join(read), ends


def _as_read(typed: re.Match[str]) -> str:
    sign, text, end = typed[0], typed.string, typed.end()
    before, behind = text[max(0, end - 2) : end - 1], text[end : end + 1]
    if sign == EN_DASH:
        return "-" if before.strip() and behind.strip() else "--"
    if sign in NO_BREAK_SPACES and (before in OPENING or behind in CLOSING):
        return ""
    return READ_AS.get(sign, "\N{REPLACEMENT CHARACTER}")
