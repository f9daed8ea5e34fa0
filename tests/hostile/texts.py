"""Sentences that nobody would type, and some that somebody might."""

import random
import sys

from tests.models.awkward import AWKWARD

MARKUP = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![](https://example.org/x.png)",
    ":material/home: :red[red] :smile:",
    "$\\sqrt{x}$ `code` **bold** ~~gone~~",
    "<a href='//example.org'>x</a>",
    "</span><style>*{display:none}</style>",
    "{{7*7}} ${7*7} #{7*7} <%= 7*7 %>",
    "../../../../etc/passwd",
    "__import__('os').system('id')",
    "'; DROP TABLE users; --",
)
WORDS = ("the", "cat", "[MASK]", "sat", "don't", "it's", "Zürich", "naïve", "3.14", "—", "…", "?!")
BLOCKS = ((0, 0x7F), (0x80, 0x24F), (0x300, 0x36F), (0x590, 0x6FF), (0x2000, 0x206F),
          (0x4E00, 0x9FFF), (0xD800, 0xDFFF), (0xE000, 0xF8FF), (0x1F300, 0x1FAFF),
          (0, sys.maxunicode))  # fmt: skip


def sentence(rng: random.Random) -> str:
    """One more."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(list(AWKWARD.values()))
    if kind == 1:
        return " ".join(rng.choices(WORDS, k=rng.randrange(1, 60)))
    if kind == 2:
        low, high = rng.choice(BLOCKS)
        return "".join(chr(rng.randint(low, high)) for _ in range(rng.randrange(1, 80)))
    if kind == 3:
        return "".join(rng.choices([*WORDS, *MARKUP, " ", "\n", "\t", "\x00"], k=rng.randrange(12)))
    if kind == 4:
        return rng.choice(["a", " ", "[MASK]", "é", "😀", "\u200b"]) * rng.choice([1, 99, 3_000])
    return rng.choice(list(AWKWARD.values()))[: rng.randrange(40)] + rng.choice(MARKUP)
