"""Sentences of all kinds: everyday ones with a hidden word, and many that are odd."""

import json
import lzma
import random

from ffnviz.models.config import ASSETS
from tests.hostile.texts import MARKUP, sentence
from tests.models.awkward import AWKWARD

N = 120
LONG = "It was the best of times, it was the worst of times, " * 12 + "it was the age of [MASK]."


def everyday(n: int, rng: random.Random) -> list[str]:
    """Sentences that nobody tuned to, each with one of its words hidden."""
    lines = lzma.decompress((ASSETS / "everyday" / "sentences.txt.xz").read_bytes()).decode()
    sentences = []
    for line in rng.sample(lines.splitlines(), n):
        words = line.split(" ")
        words[rng.randrange(len(words))] = "[MASK]"
        sentences.append(" ".join(words))
    return sentences


def all_kinds() -> list[str]:
    """The same ones each time."""
    rng = random.Random(1)
    odd = [*AWKWARD.values(), *MARKUP, LONG, "“Don’t” – 1914–18 – « Où est le [mask] ? »"]
    odd += [text for text in (sentence(rng) for _ in range(40)) if text]
    texts = [*everyday(N - len(odd), rng), *odd]
    # Two halves make one emoji, as in a page.
    return [json.loads(json.dumps(text)) for text in texts]
