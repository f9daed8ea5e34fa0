"""A block's stations as its picture has them: titles, notes, and what each does to one token."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ffnviz.figures.style import Array
from ffnviz.figures.wording import Sentence, number, percent, quoted


@dataclass(frozen=True)
class TokenInBlock:
    """One token on its way through a block."""

    label: str  # as typed
    n_words: int  # that an attention reads at most
    awake: int  # how many of the FFN's neurons are awake on it
    phi: str  # φ's name
    enters: str  # where its vector comes from, as the end of a sentence
    leaves: str  # where it goes after the block, likewise
    norm: str = "LayerNorm"  # of which kind its norms are; "norm" where that is not known
    not_drawn: int = 0  # special tokens that an attention reads, too


def degrees(before: Array, after: Array) -> float:
    """The angle between two vectors, in degrees."""
    cosine = float(before @ after) / (_norm(before) * _norm(after) or 1.0)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def title(kind: str, added: str, norm: str = "LayerNorm") -> str:
    """What a station is called; `added` is what a sum adds, `norm` what a norm is."""
    names = {"stream": "stream x", "norm": norm, "attention": "attention",
             "cross": "cross-attention", "ffn": "FFN"}  # fmt: skip
    return f"+ {added.removesuffix('-attention')}" if kind == "sum" else names[kind]


def note(kind: str, before: Array, after: Array) -> str:
    """The live number under a station; `before` is its input, or the stream that a sum adds to."""
    if kind == "sum":
        return f"turned {degrees(before, after):.0f}°"
    return f"{'norm' if kind in ('stream', 'norm') else 'writes'} {_norm(after):.1f}"


def explanation(
    kind: str, before: Array, after: Array, token: TokenInBlock, hidden: Array | None, last: bool
) -> Sentence:
    """What a station does to the token, with the numbers it does it with."""
    word, norm = quoted(token.label), number(f"{_norm(after):.1f}")
    end = f" The vector goes on {token.leaves}." if last else ""
    n = token.not_drawn
    special = f" and {n} special one{'s' * (n > 1)}, not drawn" if n else ""
    change: Sentence = [f"The norm goes from {_norm(before):.1f} to ", norm, f".{end}"]
    match kind:
        case "stream":
            return [word, f" enters as {token.enters}: {len(after):,} numbers with a norm of ",
                    norm, "."]  # fmt: skip
        case "norm" if token.norm == "RMSNorm":
            length = f"{float(np.sqrt(np.square(before).mean())):.2f}"
            return ["RMSNorm divides the numbers of ", word, f" by their root mean square "
                    f"({length}), and scales each by a learnt amount. ", *change]  # fmt: skip
        case "norm" if token.norm == "norm":
            return ["The numbers of ", word, " are normalised, and scaled by learnt amounts. ",
                    *change]  # fmt: skip
        case "norm":
            mean = f"{before.mean():.2f}".replace("-", "−")
            return [f"LayerNorm subtracts the mean ({mean}) of the numbers of ", word,
                    f", divides them by their standard deviation ({before.std():.2f}), and scales "
                    "and shifts each by learnt amounts. ", *change]  # fmt: skip
        case "attention":
            return ["Only here do tokens see one another. For ", word, ", each head gathers from "
                    f"{token.n_words} tokens{special}, with weights that sum to 1. What "
                    "the heads write has a norm of ", norm, "."]  # fmt: skip
        case "cross":
            return [word, f" attends to the {token.n_words} tokens of the sentence that was "
                    "read. What is written has a norm of ", norm, "."]  # fmt: skip
        case "ffn":
            d_ff = 0 if hidden is None else len(hidden)
            return ["The FFN sees ", word, f" alone: {len(after):,} → {d_ff:,} numbers, "
                    f"through {token.phi} (", number(f"{token.awake:,} active"),
                    f"), → {len(after):,}. It writes a norm of {_norm(after):.1f}."]  # fmt: skip
    return ["What was written is added to the stream. It turns ", word, " by ",
            number(f"{degrees(before, after):.0f}°"),
            f"; the norm goes from {_norm(before):.1f} to {_norm(after):.1f}.{end}"]  # fmt: skip


def headline(turns: Sequence[tuple[str, float]], label: str, start: str) -> Sentence:
    """How far each part of the block turns the token; the sentence begins with `start`."""
    parts: Sentence = [start]
    for place, (what, angle) in enumerate(turns):
        if place:
            parts.append(" and " if place == len(turns) - 1 else ", ")
        parts += [f"the {what} turns ", quoted(label)] if place == 0 else [f"the {what}"]
        turned = f"{angle:.0f}°"
        parts += [" by ", number(turned) if place == len(turns) - 1 else turned]
    return [*parts, ". Tokens mix only in the attention; everywhere else each keeps to its lane."]


def _norm(vector: Array) -> float:
    return float(np.linalg.norm(vector))


def attends_most(label: str, read: Sequence[str], weights: Array | None, token: int) -> Sentence:
    """Where a written token attends most in the sentence that was read, on average over heads."""
    mean = np.zeros(len(read)) if weights is None else weights[:, token].mean(axis=0)
    most = int(mean.argmax())
    return [
        quoted(label), " sees what has been written so far, never what follows. In the sentence "
        "at the top it attends most to ", quoted(read[most]), " (",
        number(percent(float(mean[most]))), "). "
        "No decoder was trained: this one borrows the encoder's weights.",
    ]  # fmt: skip
