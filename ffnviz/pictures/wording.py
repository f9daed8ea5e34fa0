"""How numbers and typed words are written, the same on every page.

A sentence is a text in which some stretches are marked, each with its kind. The marks are
characters of which Unicode says that no text has them; what is marked is rid of them, so whatever a
person types is data.
"""

import re
from collections.abc import Iterable

Sentence = str  # what `quoted`, `number` and the like give stands in it as it is
SPARE = "spare"  # the kind of what is not said
_OPEN, _SHUT, _END = "\ufdd0", "\ufdd1", "\ufdd2"  # before the kind, after it, after the text
_MARKS = re.compile(f"[{_OPEN}{_SHUT}{_END}]")
_STRETCH = re.compile(f"{_OPEN}([^{_OPEN}{_SHUT}{_END}]+){_SHUT}([^{_OPEN}{_SHUT}{_END}]*){_END}")


def percent(share: float) -> str:
    """A share as a short percentage that never shows something as nothing."""
    if share == 0:
        return "0%"
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def counted(n: int, what: str) -> str:
    """A number with its noun: 1 token, 2 tokens."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def listed(words: Iterable[Sentence]) -> Sentence:
    """One or more as a list: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def neuron_name(block: int, neuron: int) -> str:
    """How every page names a neuron: 2:17 is neuron 17 of block 2. Blocks come in from 0."""
    return f"{block + 1}:{neuron}"


def signed(value: float) -> str:
    """A value to two decimals, with a real minus sign."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


def plain(text: str) -> Sentence:
    """A text that is not ours, as a part of a sentence of ours that does not stand out."""
    return _MARKS.sub("", text)


def typed(text: str) -> Sentence:
    """The same, always shown as text: what a person typed, or the name of a file."""
    return _marked(text, "typed")


def quoted(label: str) -> Sentence:
    """What a person typed, in quotation marks, as part of a sentence of ours."""
    return typed(f"“{label}”")


def number(text: str, colour: str = "") -> Sentence:
    """A live number, as part of a sentence of ours; in a colour of the palette, if given."""
    return _marked(text, f"number@{plain(colour)}" if colour else "number")


def strong(text: str) -> Sentence:
    """Words that stand out."""
    return _marked(text, "strong")


def stop() -> Sentence:
    """A full stop after a number that may stand on a line of its own, where none is seen."""
    return _marked(".", "stop")


def spare(sentence: Sentence) -> Sentence:
    """Room for what a sentence says elsewhere: nothing is seen of it, and nothing jumps."""
    return _marked(as_text(sentence), SPARE)


def _marked(text: str, kind: str) -> Sentence:
    return f"{_OPEN}{kind}{_SHUT}{plain(text)}{_END}"


def is_marked(sentence: Sentence) -> bool:
    """Whether a stretch of it is marked."""
    return _STRETCH.search(sentence) is not None


def to_spans(sentence: Sentence) -> list[list[str]]:
    """A sentence as JSON values: each stretch of text and its kind, "plain" if it is not marked."""
    first, *more = _STRETCH.split(sentence)  # what is between, kind, text, what is between …
    spans = [[plain(first), "plain"]]
    for kind, text, between in zip(more[::3], more[1::3], more[2::3], strict=True):
        spans += [[text, kind], [plain(between), "plain"]]
    return [span for span in spans if span[0]]


def as_text(sentence: Sentence) -> str:
    """A sentence as it is read, where nothing can be bold."""
    return "".join(text for text, kind in to_spans(sentence) if kind != SPARE)
