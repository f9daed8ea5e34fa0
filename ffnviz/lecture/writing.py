"""A lecture as a TOML file, which `read_lecture` reads back as it was."""

from typing import Any

import tomli_w

from ffnviz.lecture.scene import Lecture, Scene
from ffnviz.state.state import Catalog, to_url


def written_lecture(lecture: Lecture, catalog: Catalog) -> str:
    """The text of the file."""
    table: dict[str, Any] = {"title": lecture.title}
    if lecture.minutes:
        table["minutes"] = lecture.minutes
    if lecture.short_minutes:
        table["short_minutes"] = lecture.short_minutes
    table["scene"] = [_table(scene, catalog) for scene in lecture.scenes]
    return tomli_w.dumps(table, multiline_strings=False)


def _table(scene: Scene, catalog: Catalog) -> dict[str, Any]:
    table: dict[str, Any] = {"title": scene.title, "say": scene.say}
    if scene.look:
        table["look"] = scene.look
    if scene.short:
        table["short"] = True
    if scene.notes:
        table["notes"] = scene.notes
    table["view"] = {"page": scene.state.page, **to_url(scene.state, catalog)}
    if scene.question:
        asked = scene.question
        table["question"] = {
            "ask": asked.ask, "options": list(asked.options), "answer": asked.answer + 1,
        }  # fmt: skip
    return table
