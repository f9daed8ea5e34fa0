"""A box for what is said, into which numbers are put by choosing them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Part, to_spans


@dataclass(frozen=True)
class Choice:
    """A number that may be put into the words."""

    name: str  # that stands for it, in braces
    meaning: str  # what it is
    now: str  # what it is for what the scene shows


def words_cell(
    label: str,
    text: str,
    longest: int,
    reads: Sequence[Part],
    choices: Sequence[Choice] | None,
    key: str,
    on_text: Callable[[str], None],
    on_ask: Callable[[], None],
) -> Cell:
    """The box.

    Args:
        label: says what is written here.
        text: that stands in it.
        longest: characters.
        reads: the text with its numbers; empty if there are none, or if it cannot be read.
        choices: the numbers; None until somebody asks for them, as they take a while.
        key: unique on the page.
        on_text: called with the text when it has changed.
        on_ask: called when somebody wants to choose a number.
    """

    def wrote(sent: Any) -> None:
        if isinstance(sent, str):
            on_text(sent[:longest])

    data: dict[str, Any] = {
        "label": label,
        "text": text,
        "longest": longest,
        "reads": to_spans(reads),
        "choices": choices and [[each.name, each.meaning, each.now] for each in choices],
    }
    return Cell("words_box", key, data, events={"text": wrote, "ask": lambda _: on_ask()})
