"""The tokens of a sentence, one neuron on each of them, and sentences that people sent in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell, Head, entry, event, place, to_data


@dataclass(frozen=True, kw_only=True)
class Chips:
    """A chip a token."""

    texts: Sequence[str]  # the tokens as typed
    shares: Sequence[float]  # of the neurons, from 0 to 1, each; empty where they are not shown
    chosen: int  # the token that drives the page
    what: str  # what a share means, for the tooltip
    accent: str  # which of the palette's colours the shares have
    hides: Sequence[str]  # each token's whole word; empty where nothing can be hidden
    asks: bool = False  # whether the head asks for something, and so is shown on a phone too
    joins: Sequence[bool] = ()  # whether each goes on with the character of the token before it
    unhides: Sequence[str] = ()  # what was in the place of each mask; empty where nobody knows
    head: Head | None = None
    # the actions for the number of the token that is clicked, whose word is to be hidden, and
    # of the mask whose word is to be back
    on_choose: Callable[[int], Any]
    on_hide: Callable[[int], Any]
    on_unhide: Callable[[int], Any] = lambda _: None

    def to_cell(self, key: str) -> Cell:
        """On a sheet, where `key` is unique."""
        data = to_data(self)
        if self.head is None:
            del data["head"]
        asked = {"token": self.on_choose, "hide": self.on_hide, "unhide": self.on_unhide}
        events = {name: event(act, place, len(self.texts)) for name, act in asked.items()}
        return Cell("chips", key, data, events=events)


@dataclass(frozen=True, kw_only=True)
class NeuronCard:
    """One neuron."""

    title: str  # which neuron it is
    texts: Sequence[str]  # the tokens as typed
    values: Sequence[float]  # the neuron's hidden value on each token
    token: int  # the row to mark
    words: Sequence[str]  # those its value vector promotes most, the first most
    head: Head  # its accent is also the title's
    on_meet: Callable[[int | None], Any]  # the action for a clicked value's token; None: the button

    def to_cell(self, key: str) -> Cell:
        """On a sheet, where `key` is unique."""

        def clicked(met: Any) -> Any:
            row = place(entry(met, "token"), len(self.texts))
            return self.on_meet(row) if row is not None or met == {"token": None} else None

        return Cell("neuron_card", key, to_data(self), events={"meet": clicked})


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
    lines: Sequence[Line],  # from top to bottom
    key: str,  # unique on the page
    # called with the number of a sentence that is to be looked at, and of one to be hidden
    on_open: Callable[[int], Any],
    on_hide: Callable[[int], Any],
) -> Cell:
    """Sentences, one below the other."""

    def described(line: Line) -> dict[str, Any]:
        guesses = [[g.network, g.colour, g.word, float(g.share)] for g in line.guesses]
        return {"text": line.text, "remark": line.remark, "guesses": guesses}

    data = {"lines": [described(line) for line in lines], "head": head.to_json()}
    events = {
        "open": event(lambda at: on_open(lines[at].number), place, len(lines)),
        "hide": event(lambda at: on_hide(lines[at].number), place, len(lines)),
    }
    return Cell("sentences", key, data, events=events)
