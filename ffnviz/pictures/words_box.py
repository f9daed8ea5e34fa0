"""A text box for a scene's words, with a list of numbers to insert."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Part, to_spans


@dataclass(frozen=True)
class Choice:
    """A number that can be inserted."""

    name: str  # stands for it in the text, in braces
    meaning: str  # what it is
    now: str  # its value for what the scene shows


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
        label: of the box.
        text: its content.
        longest: characters that the text may have.
        reads: the text with its numbers; empty if there are none, or if it cannot be read.
        choices: the numbers; None until they are asked for, as they take a while.
        key: unique on the page.
        on_text: called with the text when it has changed.
        on_ask: called when the choices are asked for.
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
