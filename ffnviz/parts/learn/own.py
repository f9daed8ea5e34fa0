"""The controls that have the next training read a text of the visitor's own."""

from typing import Any

from ffnviz.parts.sheet import Answer, Button, Control, Upload
from ffnviz.pictures.text import text_cell
from ffnviz.training.learn.own_text import LONGEST, OwnTextError, sentences_in

LONGEST_NAME = 40


def own_text_controls() -> list[Control]:
    """The upload of a file for the next start, and the way back."""
    return [
        Upload("Read a text of yours", ".txt", LONGEST, read_upload,
               f"Plain text, up to {LONGEST:,} characters; the next start reads it. It is kept "
               "nowhere beyond this visit."),
        Button("Read everyday sentences", lambda: ("read", "", "")),
    ]  # fmt: skip


def read_upload(name: str, text: str) -> Any:
    """What a file asks for; a warning if it cannot be read."""
    try:
        sentences_in(text)
    except OwnTextError as error:
        return Answer(None, text_cell("learn-own", str(error), tone="warning"))
    return "read", name[:LONGEST_NAME], text
