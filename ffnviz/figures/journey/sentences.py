"""The one sentence above each picture of the Journey, with the live numbers in it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.wording import Sentence, number, percent, quoted, signed


def awake_means(threshold: float) -> str:
    """What it takes for a neuron to count as awake."""
    if threshold == 0:
        return "awake (above zero)"
    return f"away from zero by more than {threshold}"


def of_tokens(
    labels: Sequence[str], shares: NDArray[np.floating], threshold: float, block: int
) -> Sentence:
    """Which token wakes most neurons, which fewest; blocks count from 0 here."""
    most, least = int(shares.argmax()), int(shares.argmin())
    return [
        f"Each token has its own share of block {block + 1}'s neurons {awake_means(threshold)}: ",
        number(percent(float(shares[most]))),
        " for ",
        quoted(labels[most]),
        " down to ",
        number(percent(float(shares[least]))),
        " for ",
        quoted(labels[least]),
        ".",
    ]


def of_ffn(label: str, count: int, d_ff: int, threshold: float, activation: str) -> Sentence:
    """How many neurons the chosen token wakes on its way through the FFN."""
    return [
        quoted(label),
        " wakes " if threshold == 0 else " moves ",
        number(f"{count:,} of {d_ff:,} neurons ({percent(count / d_ff)})"),
        "" if threshold == 0 else f" further than {threshold} from zero",
        f": expand, bend with {activation}, compress, add.",
    ]


def of_prediction(label: str, told: tuple[str, float], without: tuple[str, float]) -> Sentence:
    """The likeliest word and its probability, with the FFN and without it."""
    best, other = (f"{word} ({percent(probability)})" for word, probability in (told, without))
    return [
        "Likeliest at ",
        quoted(label),
        ": ",
        number(best),
        "; without this FFN ",
        number(other),
        ".",
    ]


def of_maps(awake: Sequence[tuple[str, float, float]]) -> Sentence:
    """How much of the sentence each network leaves asleep.

    Args:
        awake: of each its label, the share awake, and beyond what a neuron counts as awake.
    """
    told: Sentence = ["On this sentence "]
    for place, (label, share, threshold) in enumerate(awake):
        if place:
            told.append("; ")
        if threshold == 0:
            told += [
                f"{label} leaves ",
                number(f"{percent(1 - share)} of its values exactly zero"),
                f" ({percent(share)} awake)",
            ]
        else:
            told += [
                f"{label} is away from zero, beyond {threshold:g}, in ", number(percent(share))
            ]  # fmt: skip
    return [*told, "."]


def of_neuron(labels: Sequence[str], values: NDArray[np.floating]) -> Sentence:
    """On which token a neuron is strongest."""
    strongest = int(np.abs(values).argmax())
    return [
        "This neuron is strongest on ",
        quoted(labels[strongest]),
        ": ",
        number(signed(float(values[strongest]))),
        ".",
    ]
