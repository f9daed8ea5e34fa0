"""A button that saves a file, which the browser makes: no process of the server need keep it."""

import base64

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.declare import mount_cell


def saving_cell(label: str, content: str | bytes | None, name: str, kind: str, key: str) -> Cell:
    """A button that saves a file.

    Args:
        label: on it.
        content: of the file; None if there is nothing to save.
        name: of the file.
        kind: its media type.
        key: unique on the page.
    """
    file = None
    if content is not None:
        data = content.encode() if isinstance(content, str) else content
        file = {"name": name, "type": kind, "base64": base64.b64encode(data).decode()}
    return Cell("saving", key, {"label": label, "file": file})


def save_button(label: str, content: str | bytes | None, name: str, kind: str, key: str) -> None:
    """Show the button by itself."""
    mount_cell(saving_cell(label, content, name, kind, key))
