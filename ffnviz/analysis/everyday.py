"""Everyday sentences of Tatoeba, and which of them no training reads."""

import hashlib
import lzma

from ffnviz.models.assets import ASSETS

EVERYDAY = ASSETS / "everyday" / "sentences.txt.xz"
HELD_OUT_DIGIT = "1"  # one line in sixteen


def everyday_sentences() -> tuple[str, ...]:
    """All of them."""
    return tuple(lzma.decompress(EVERYDAY.read_bytes()).decode().splitlines())


def is_held_out(line: str) -> bool:
    """Whether no training reads a sentence: its SHA-1 begins with a 1."""
    digest = hashlib.sha1(line.encode(errors="replace"), usedforsecurity=False).hexdigest()
    return digest.startswith(HELD_OUT_DIGIT)
