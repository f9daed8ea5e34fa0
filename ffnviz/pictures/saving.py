"""A button that saves a file, which the browser makes: no process of the server need keep it."""

import base64

from ffnviz.pictures.cell import Cell


def saving_cell(label: str, content: str | bytes | None, name: str, kind: str, key: str) -> Cell:
    """A button that saves a file.

    Args:
        label: on it.
        content: of the file; None if there is nothing to save.
        name: of the file.
        kind: its media type.
        key: unique on the page.
    """
    file = None if content is None else file_data(content, name, kind)
    return Cell("saving", key, {"label": label, "file": file})


def file_data(content: str | bytes, name: str, kind: str) -> dict[str, str]:
    """A file as JSON values, from which the browser makes it."""
    data = content.encode() if isinstance(content, str) else content
    return {"name": name, "type": kind, "base64": base64.b64encode(data).decode()}
