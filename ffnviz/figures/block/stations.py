"""A block's stations as its picture has them: titles, notes, and what each does to one token."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.wording import Sentence, number, percent, quoted

Vector = NDArray[np.floating]


@dataclass(frozen=True)
class Passing:
    """One token on its way through a block.

    Attributes:
        label: as typed.
        n_words: that an attention reads at most.
        awake: how many of the FFN's neurons are awake on it.
        phi: φ's name.
        enters: where its vector comes from, as the end of a sentence.
        leaves: where it goes after the block, likewise.
    """

    label: str
    n_words: int
    awake: int
    phi: str
    enters: str
    leaves: str


def degrees(before: Vector, after: Vector) -> float:
    """The angle between two vectors, in degrees."""
    cosine = float(before @ after) / (_norm(before) * _norm(after) or 1.0)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def title(kind: str, added: str) -> str:
    """What a station is called; `added` is what a sum adds."""
    names = {"stream": "stream x", "norm": "LayerNorm", "attention": "attention",
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
    match kind:
        case "stream":
            return [word, f" enters as {passing.enters}: ", number(f"{len(after):,}"),
                    " numbers, norm ", size, "."]  # fmt: skip
        case "norm":
            return ["LayerNorm takes the mean (", number(f"{before.mean():.2f}".replace("-", "−")),
                    ") from the numbers of ", word, ", divides by their standard deviation (",
                    number(f"{before.std():.2f}"), "), then scales and shifts each by learnt "
                    "amounts. The norm goes from ", number(f"{_norm(before):.1f}"), " to ", size,
                    *([f". It goes on {passing.leaves}."] if last else ["."])]  # fmt: skip
        case "attention":
            return ["Only here do words see one another. Each head lets ", word,
                    " gather from ", number(f"{passing.n_words} tokens"),
                    ", by weights that add up to 1. What they gather is written with a norm of ",
                    size, "."]  # fmt: skip
        case "cross":
            return [word, " asks the sentence that was read: it gathers from its ",
                    number(f"{passing.n_words} tokens"), ". What comes of it has a norm of ",
                    size, "."]  # fmt: skip
        case "ffn":
            wide = 0 if hidden is None else len(hidden)
            return ["The FFN sees ", word, " alone: ", number(f"{len(after):,} → {wide:,}"),
                    f" numbers, bent by {passing.phi} (", number(f"{passing.awake:,} awake"),
                    "), → ",
                    number(f"{len(after):,}"), ", written with a norm of ", size, "."]  # fmt: skip
    end = f" It goes on {passing.leaves}." if last else ""
    return ["What was written is added to the stream. It turns ", word, " by ",
            number(f"{degrees(before, after):.0f}°"), "; the norm goes from ",
            number(f"{_norm(before):.1f}"), " to ", size, f".{end}"]  # fmt: skip


def headline(turns: Sequence[tuple[str, float]], label: str, start: str) -> Sentence:
    """What turns the token how far; it begins with `start`."""
    parts: Sentence = [start]
    for place, (what, angle) in enumerate(turns):
        if place:
            parts.append(" and " if place == len(turns) - 1 else ", ")
        parts += [f"the {what} turns ", quoted(label)] if place == 0 else [f"the {what}"]
        parts += [" by ", number(f"{angle:.0f}°")]
    return [*parts, ". Words mix in the attention only; elsewhere each keeps to its lane."]


def _norm(vector: Vector) -> float:
    return float(np.linalg.norm(vector))


def asked_most(
    label: str, asked: Sequence[str], weights: NDArray[np.floating] | None, token: int
) -> Sentence:
    """What a written token asks most of the sentence that was read, on the mean of all heads."""
    mean = np.zeros(len(asked)) if weights is None else weights[:, token].mean(axis=0)
    most = int(mean.argmax())
    return [
        quoted(label), " sees what is written up to it, and nothing later. Of the sentence at the "
        "top it asks ", quoted(asked[most]), " most (", number(percent(float(mean[most]))),
        "). No decoder was trained here: it borrows the encoder's weights.",
    ]  # fmt: skip
