"""Sentences that people sent in, each with what the networks guess there.

The tokens of the sentence in the person's own spelling, each with the share it wakes.

One neuron: its value on every token, and the words it writes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell, Head, entry, event, place


def chips_cell(
    head: Head | None,
    accent: str,
    texts: Sequence[str],
    shares: Sequence[float],
    chosen: int,
    what: str,
    key: str,
    on_choose: Callable[[int], Any],
    hides: Sequence[str],
    on_hide: Callable[[int], Any],
    asks: bool = False,
    joins: Sequence[bool] = (),
    unhides: Sequence[str] = (),
    on_unhide: Callable[[int], Any] = lambda _: None,
) -> Cell:
    """A chip a token.

    Args:
        head: above the picture, if anything.
        accent: which of the palette's colours the shares have.
        texts: the tokens as typed.
        shares: of the neurons, from 0 to 1, each; empty where they are not shown.
        chosen: the token that drives the page.
        what: what a share means, for the tooltip.
        key: unique on the page.
        on_choose: gives the action for the clicked token's number.
        hides: each token's whole word; empty where nothing can be hidden.
        asks: whether the head asks for something, and so is shown on a phone too.
        on_hide: gives the action for the number of the token whose word is to be hidden.
        joins: whether each goes on with the character of the token before it.
        unhides: the word that was in the place of each mask; empty where nobody knows.
        on_unhide: gives the action for the number of the mask whose word is to be back.
    """
    data: dict[str, Any] = {
        "texts": list(texts),
        "shares": list(shares),
        "chosen": chosen,
        "what": what,
        "accent": accent,
        "hides": list(hides),
        "asks": asks,
        "joins": list(joins),
        "unhides": list(unhides),
    }
    if head is not None:
        data["head"] = head.to_json()
    n = len(texts)
    asked = {"token": on_choose, "hide": on_hide, "unhide": on_unhide}
    events = {name: event(answer, place, n) for name, answer in asked.items()}
    return Cell("chips", key, data, events=events)


def neuron_card_cell(
    head: Head,
    title: str,
    texts: Sequence[str],
    values: NDArray[np.floating],
    token: int,
    words: Sequence[str],
    key: str,
    on_meet: Callable[[int | None], Any],
) -> Cell:
    """One neuron.

    A click on a token's value hands the token to `on_meet`, a click on the button None.

    Args:
        head: above the picture; its accent is also the title's.
        title: which neuron it is.
        texts: the tokens as typed.
        values: the neuron's hidden value on each token, (T,).
        token: the row to mark.
        words: those its value vector promotes most, the first most.
        key: unique on the sheet.
        on_meet: gives the action for a token's number, or None.
    """

    def clicked(met: Any) -> Any:
        row = place(entry(met, "token"), len(texts))
        return on_meet(row) if row is not None or met == {"token": None} else None

    data: dict[str, Any] = {
        "title": title,
        "texts": list(texts),
        "values": [float(value) for value in values],
        "token": token,
        "words": list(words),
        "head": head.to_json(),
    }
    return Cell("neuron_card", key, data, events={"meet": clicked})


@dataclass(frozen=True)
class Guess:
    """What one network makes of a sentence."""

    network: str  # its label
    colour: str  # which of the palette's colours it has
    word: str  # the likeliest
    share: float  # its probability, from 0 to 1


@dataclass(frozen=True)
class Line:
    """One sentence."""

    number: int  # its own
    text: str  # as typed
    guesses: Sequence[Guess]  # of each network that has one
    remark: str = ""  # shown in place of the guesses


def sentences_cell(
    head: Head,
    lines: Sequence[Line],
    key: str,
    on_open: Callable[[int], Any],
    on_hide: Callable[[int], Any],
) -> Cell:
    """Sentences, one below the other.

    Args:
        head: above the picture.
        lines: from top to bottom.
        key: unique on the page.
        on_open: called with the number of a sentence that is to be looked at.
        on_hide: called with the number of one that is to be hidden.
    """
    data: dict[str, Any] = {
        "lines": [
            {
                "text": line.text,
                "remark": line.remark,
                "guesses": [[g.network, g.colour, g.word, float(g.share)] for g in line.guesses],
            }
            for line in lines
        ],
        "head": head.to_json(),
    }
    events = {
        "open": event(lambda at: on_open(lines[at].number), place, len(lines)),
        "hide": event(lambda at: on_hide(lines[at].number), place, len(lines)),
    }
    return Cell("sentences", key, data, events=events)
