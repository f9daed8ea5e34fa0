"""Sentences that people sent in, each with what the networks guess there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import event, place


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
            {"text": line.text, "remark": line.remark,
             "guesses": [[g.network, g.colour, g.word, float(g.share)] for g in line.guesses]}
            for line in lines
        ],
        "head": head.to_json(),
    }  # fmt: skip
    events = {
        "open": event(lambda at: on_open(lines[at].number), place, len(lines)),
        "hide": event(lambda at: on_hide(lines[at].number), place, len(lines)),
    }
    return Cell("sentences", key, data, events=events)
