"""Sentences that people sent in, each with what the networks guess there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ffnviz.pictures.declare import declare
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import place

_mount = declare("sentences")


@dataclass(frozen=True)
class Guess:
    """What one network makes of a sentence.

    Attributes:
        network: its label.
        colour: which of the palette's colours it has.
        word: the likeliest.
        share: its probability, from 0 to 1.
    """

    network: str
    colour: str
    word: str
    share: float


@dataclass(frozen=True)
class Line:
    """One sentence.

    Attributes:
        number: its own.
        text: as typed.
        hidden: whether it stands back, and nothing is computed of it.
        guesses: of each network that has one.
        remark: stands in their place.
    """

    number: int
    text: str
    hidden: bool
    guesses: Sequence[Guess]
    remark: str = ""


def sentences(
    head: Head,
    lines: Sequence[Line],
    stamp: str,
    key: str,
    on_open: Callable[[int], None],
    on_hide: Callable[[int], None],
) -> None:
    """Show them, one below the other.

    Args:
        head: what stands above them.
        lines: from top to bottom.
        stamp: told to the browser once painted.
        key: unique on the page.
        on_open: called with the number of a sentence that is to be looked at.
        on_hide: called with the number of one that is to be hidden, or shown again if it is.
    """

    def passed_on(name: str, act: Callable[[int], None]) -> Callable[[], None]:
        def sent() -> None:
            at = place(getattr(st.session_state[key], name), len(lines))
            if at is not None:
                act(lines[at].number)

        return sent

    data: dict[str, Any] = {
        "lines": [
            {"text": line.text, "hidden": line.hidden, "remark": line.remark,
             "guesses": [[g.network, g.colour, g.word, float(g.share)] for g in line.guesses]}
            for line in lines
        ],
        "head": head.to_json(),
        "stamp": stamp,
    }  # fmt: skip
    _mount(data, key=key, on_open_change=passed_on("open", on_open),
           on_hide_change=passed_on("hide", on_hide))  # fmt: skip
