"""What a run of the page sent its browser: the cells of its one component, unpacked."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.unpacked import unpacked


def sent_cells(app: AppTest) -> dict[str, dict[str, Any]]:
    """The data of each cell that this run sent, by key."""
    (component,) = (
        each.proto
        for each in app.get("bidi_component")
        if each.proto.component_name == "ffnviz.sheet"
    )
    header, _ = unpacked(component.bytes)
    new: dict[str, dict[str, Any]] = header["new"]
    return {key: new[digest] for key, (digest, *_) in header["cells"].items() if digest in new}


def said(app: AppTest, key: str) -> str:
    """The paragraphs of a text, or the line under a picture."""
    cell = sent_cells(app)[key]
    paragraphs = cell.get("paragraphs") or [cell["head"]["under"]]
    return " ".join("".join(text for text, _ in spans) for spans in paragraphs)
