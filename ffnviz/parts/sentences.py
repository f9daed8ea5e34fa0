"""The one sentence above each picture of the Journey, with the live numbers in it."""

from collections.abc import Sequence

import numpy as np

from ffnviz.pictures.plot import Array
from ffnviz.pictures.wording import Sentence, counted, number, percent, quoted, signed, stop

HIDDEN, NEXT, SHOWN = "hidden", "next", "shown"


def awake_means(threshold: float) -> str:
    """When a neuron counts as awake."""
    if threshold == 0:
        return "active (not zero)"
    return f"active (further than {threshold:g} from zero)"


def active_means(threshold: float) -> str:
    """The same, said beside a picture whose sentence has the number."""
    if threshold == 0:
        return "active means: not zero"
    return f"active means: further than {threshold:g} from zero"


def of_the_question(sentence: str, hidden: int | None, can_hide: bool) -> Sentence:
    """What to do if nothing is asked of the network, which can only guess hidden words.

    `hidden` is how many words are hidden; None if the network guesses no hidden words.
    """
    if hidden is None or hidden:
        return ""
    how = "press “Hide”" if can_hide else "click a word and hide it"
    start = "No word is hidden here, so the network has nothing to guess."
    if sentence.rstrip().endswith("?"):
        answers = "The network answers no questions"
        start = f"{answers}: it guesses hidden words, and none is hidden here."
    return f"{start} To see it guess, {how}, or type ___ for a word. "


def of_left_out(read: int, left_out: int) -> Sentence:
    """A warning that the network cannot read all of a long text: so many tokens, and no more."""
    last = f"The last {left_out:,} are" if left_out > 1 else "The last one is"
    return (
        f"The network reads at most {counted(read, 'token')}. {last} left out below; shorten the "
        "text to see all of it."
    )


def of_tokens(labels: Sequence[str], shares: Array, block: int) -> Sentence:
    """Which token activates the most neurons, which the fewest; blocks count from 0 here."""
    most, least = int(shares.argmax()), int(shares.argmin())
    share = number(percent(float(shares[most])))
    if shares[most] == shares[least]:
        return f"Each token activates {share} of block {block + 1}'s neurons."
    return (
        f"{quoted(labels[most])} activates the most neurons, {share} of block {block + 1}; "
        f"{quoted(labels[least])} the fewest, {percent(float(shares[least]))}."
    )


def of_ffn(d_model: int, d_ff: int, gated: bool) -> Sentence:
    """What the FFN does with each token: wider, bent, narrow again, added."""
    bent = ", gated by a bent projection" if gated else ", bent"
    return (
        "Each token goes alone through the same weights: "
        f"{number(f'{d_model:,} numbers → {d_ff:,}{bent}, → {d_model:,}')}, added back."
    )


def of_prediction(
    label: str,
    prediction: tuple[str, float],
    without: tuple[str, float],
    block: int,
    asked: str,  # at the token: HIDDEN, NEXT, or SHOWN for neither
    is_off: bool = False,
) -> Sentence:
    """The likeliest word and its probability, with the FFN and without it."""
    best, other = [f"“{word}” ({percent(share)})" for word, share in (prediction, without)]
    questions = {
        HIDDEN: "For the hidden word the network says",
        NEXT: f"After {quoted(label)} the network expects",
        SHOWN: f"{quoted(label)} is not hidden; the network says",
    }
    if is_off:
        start = f"Without the FFN of block {block + 1} the network says {number(other)}{stop()}"
        return f"{start} With this FFN: {best}."
    # As short as the other, so that what is below stays where it is.
    means = f"Without the FFN of block {block + 1}: {other}."
    if asked == SHOWN:
        means = "It learned to guess hidden words only."
    return f"{questions[asked]} {number(best)}{stop()} {means}"


def of_maps(awake: Sequence[tuple[str, float, float, str]]) -> Sentence:
    """How much of the sentence each network leaves at zero; the first one's number stands out."""
    said: list[str] = []
    for label, share, threshold, colour in awake:
        where = "exactly zero" if threshold == 0 else f"within {threshold:g} of zero"
        asleep = percent(1 - share)
        leaves = f"{label} {asleep} {where}"
        if not said:
            leaves = f"{label} leaves {number(f'{asleep} of its activations {where}', colour)}"
        said.append(leaves)
    return f"{', '.join(said)}."


def of_leading(word: str, added: float, block: int, is_off: bool = False) -> Sentence:
    """What the neuron adds that adds most to the likeliest word; blocks count from 0 here."""
    which = f"Of block {block + 1}'s neurons, this one"
    if is_off:
        which = "With the FFN on, this neuron"
    return (
        f"{which} adds most to the logit of {quoted(word)}: "
        f"{number(f'+{added:.2f}' if added > 0 else signed(added))}."
    )


def of_neuron(labels: Sequence[str], values: Array, threshold: float, block: int) -> Sentence:
    """On which token a neuron is strongest, if it is awake anywhere; blocks count from 0 here."""
    strongest = int(np.abs(values).argmax())
    value = number(signed(float(values[strongest])))
    if abs(float(values[strongest])) > threshold:
        return f"This neuron is strongest on {quoted(labels[strongest])}: {value}."
    asleep = f"This neuron of block {block + 1} is active on no token here"
    if threshold == 0:
        return f"{asleep}."
    return f"{asleep}; furthest from zero on {quoted(labels[strongest])}: {value}."
