"""A block's stations as its picture has them: titles, notes, and what each does to one token."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ffnviz.figures.style import Array
from ffnviz.figures.wording import Sentence, number, percent, quoted

Vector = Array


@dataclass(frozen=True)
class Passing:
    """One token on its way through a block."""

    label: str  # as typed
    n_words: int  # that an attention reads at most
    awake: int  # how many of the FFN's neurons are awake on it
    phi: str  # φ's name
    enters: str  # where its vector comes from, as the end of a sentence
    leaves: str  # where it goes after the block, likewise
    norm: str = "LayerNorm"  # of which kind its norms are; "norm" where that is not known
    not_drawn: int = 0  # special tokens that an attention reads, too


def degrees(before: Vector, after: Vector) -> float:
    """The angle between two vectors, in degrees."""
    cosine = float(before @ after) / (_norm(before) * _norm(after) or 1.0)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def title(kind: str, added: str, norm: str = "LayerNorm") -> str:
    """What a station is called; `added` is what a sum adds, `norm` what a norm is."""
    names = {"stream": "stream x", "norm": norm, "attention": "attention",
             "cross": "cross-attention", "ffn": "FFN"}  # fmt: skip
    return f"+ {added.removesuffix('-attention')}" if kind == "sum" else names[kind]


def note(kind: str, before: Vector, after: Vector) -> str:
    """The live number under a station; before is what it got, or the stream that a sum adds to."""
    if kind == "sum":
        return f"turned {degrees(before, after):.0f}°"
    return f"{'norm' if kind in ('stream', 'norm') else 'writes'} {_norm(after):.1f}"


def says(
    kind: str, before: Vector, after: Vector, passing: Passing, hidden: Vector | None, last: bool
) -> Sentence:
    """What a station does to the token, with the numbers it does it with."""
    word, size = quoted(passing.label), number(f"{_norm(after):.1f}")
    end = f" The vector goes on {passing.leaves}." if last else ""
    more = passing.not_drawn
    also = f" and {more} special one{'s' * (more > 1)}, not drawn" if more else ""
    match kind:
        case "stream":
            return [word, f" enters as {passing.enters}: {len(after):,} numbers with a norm of ",
                    size, "."]  # fmt: skip
        case "norm" if passing.norm == "RMSNorm":
            length = f"{float(np.sqrt(np.square(before).mean())):.2f}"
            return ["RMSNorm divides the numbers of ", word, f" by their root mean square "
                    f"({length}), and scales each by a learnt amount. "
                    f"The norm goes from {_norm(before):.1f} to ", size, f".{end}"]  # fmt: skip
        case "norm" if passing.norm == "norm":
            return ["The numbers of ", word, " are normalised, and scaled by learnt amounts. "
                    f"The norm goes from {_norm(before):.1f} to ", size, f".{end}"]  # fmt: skip
        case "norm":
            mean = f"{before.mean():.2f}".replace("-", "−")
            return [f"LayerNorm subtracts the mean ({mean}) of the numbers of ", word,
                    f", divides them by their standard deviation ({before.std():.2f}), and scales "
                    "and shifts each by learnt amounts. "
                    f"The norm goes from {_norm(before):.1f} to ", size, f".{end}"]  # fmt: skip
        case "attention":
            return ["Only here do tokens see one another. For ", word, ", each head gathers from "
                    f"{passing.n_words} tokens{also}, with weights that sum to 1. What "
                    "the heads write has a norm of ", size, "."]  # fmt: skip
        case "cross":
            return [word, f" attends to the {passing.n_words} tokens of the sentence that was "
                    "read. What is written has a norm of ", size, "."]  # fmt: skip
        case "ffn":
            wide = 0 if hidden is None else len(hidden)
            return ["The FFN sees ", word, f" alone: {len(after):,} → {wide:,} numbers, "
                    f"through {passing.phi} (", number(f"{passing.awake:,} active"),
                    f"), → {len(after):,}. It writes a norm of {_norm(after):.1f}."]  # fmt: skip
    return ["What was written is added to the stream. It turns ", word, " by ",
            number(f"{degrees(before, after):.0f}°"),
            f"; the norm goes from {_norm(before):.1f} to {_norm(after):.1f}.{end}"]  # fmt: skip


def headline(turns: Sequence[tuple[str, float]], label: str, start: str) -> Sentence:
    """What turns the token how far; it begins with `start`."""
    parts: Sentence = [start]
    for place, (what, angle) in enumerate(turns):
        if place:
            parts.append(" and " if place == len(turns) - 1 else ", ")
        parts += [f"the {what} turns ", quoted(label)] if place == 0 else [f"the {what}"]
        turned = f"{angle:.0f}°"
        parts += [" by ", number(turned) if place == len(turns) - 1 else turned]
    return [*parts, ". Tokens mix only in the attention; everywhere else each keeps to its lane."]


def _norm(vector: Vector) -> float:
    return float(np.linalg.norm(vector))


def asked_most(label: str, asked: Sequence[str], weights: Array | None, token: int) -> Sentence:
    """What a written token asks most of the sentence that was read, on the mean of all heads."""
    mean = np.zeros(len(asked)) if weights is None else weights[:, token].mean(axis=0)
    most = int(mean.argmax())
    return [
        quoted(label), " sees what has been written so far, never what follows. In the sentence "
        "at the top it attends most to ", quoted(asked[most]), " (",
        number(percent(float(mean[most]))), "). "
        "No decoder was trained: this one borrows the encoder's weights.",
    ]  # fmt: skip
