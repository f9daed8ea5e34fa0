"""What a run of the page sent its browser: the cells of its one component, unpacked."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest


def unpacked(packed: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header of what `pack` made, and its arrays as they lie there."""
    length = int.from_bytes(packed[:4], "little")
    header = json.loads(packed[4 : 4 + length])
    places = sorted(header["arrays"].items(), key=lambda each: each[1]["offset"])
    ends = [*(place["offset"] for _, place in places[1:]), len(packed) - 4 - length][: len(places)]
    start = 4 + length
    return header, {
        name: packed[start + place["offset"] : start + end]
        for (name, place), end in zip(places, ends, strict=True)
    }


def sent_cells(app: AppTest) -> dict[str, dict[str, Any]]:
    """The data of each cell that this run sent, by key."""
    (component,) = (
        each.proto
        for each in app.get("bidi_component")
        if each.proto.component_name == "ffnviz.sheet"
    )
    header, new = unpacked(component.bytes)
    return {
        key: unpacked(new[digest])[0]
        for key, (digest, _) in header["cells"].items()
        if digest in new
    }


def said(app: AppTest, key: str) -> str:
    """The paragraphs of a text."""
    paragraphs = sent_cells(app)[key]["paragraphs"]
    return " ".join("".join(text for text, _ in spans) for spans in paragraphs)
