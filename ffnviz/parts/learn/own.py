"""What brings a text of one's own for the next training, and what lets it go."""

from typing import Any

from ffnviz.parts.sheet import Answer, Button, Control, Upload
from ffnviz.pictures.text import text_cell
from ffnviz.training.learn.own_text import LONGEST, OwnTextError, sentences_in

LONGEST_NAME = 40


def own_text_controls() -> list[Control]:
    """A file for the next start, and back."""
    return [
        Upload("Read a text of yours", ".txt", LONGEST, brought,
               f"Plain text, up to {LONGEST:,} characters; the next start reads it. It is kept "
               "nowhere beyond this visit."),
        Button("Read everyday sentences", lambda: ("read", "", "")),
    ]  # fmt: skip


def brought(name: str, text: str) -> Any:
    """What a file asks for; or says, if it cannot be read."""
    try:
        sentences_in(text)
    except OwnTextError as error:
        return Answer(None, text_cell("learn-own", str(error), tone="warning"))
    return "read", name[:LONGEST_NAME], text
