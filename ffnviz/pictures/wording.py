"""How numbers and typed words are written, the same on every page."""

from typing import Literal

Typed = tuple[str, Literal["typed"]]
Number = tuple[str, str]  # "number", or "number@" and a name in the palette
Sentence = list[str | Typed | Number]
SPARE = "spare"  # the kind of what is not said


def weights(n: int) -> str:
    """How many weights a network has, as people say it: 22.7M."""
    for size, name in ((1e9, "B"), (1e6, "M")):
        if n >= size:
            return f"{n / size:.3g}{name}"
    return f"{n:,}"


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


def neuron_name(block: int, neuron: int) -> str:
    """How every page names a neuron: 2:17 is neuron 17 of block 2. Blocks come in from 0."""
    return f"{block + 1}:{neuron}"


def signed(value: float) -> str:
    """A value to two decimals, with a real minus sign."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


def quoted(label: str) -> Typed:
    """What a person typed, as part of a sentence of ours."""
    return f"“{label}”", "typed"


def number(text: str, colour: str = "") -> Number:
    """A live number, as part of a sentence of ours; in a network's own colour, if given."""
    return text, f"number@{colour}" if colour else "number"


def as_text(sentence: Sentence) -> str:
    """A sentence as it is read, where nothing can be bold."""
    parts = ((part, "") if isinstance(part, str) else part for part in sentence)
    return "".join(text for text, kind in parts if kind != SPARE)


def spare(sentence: Sentence) -> Number:
    """Room for what a sentence says elsewhere: nothing is seen of it, and nothing jumps."""
    return as_text(sentence), SPARE
