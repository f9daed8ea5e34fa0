"""Every component has its files, is listed for Streamlit, and never makes markup of text."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ffnviz import components

FOLDER = Path(components.__file__).parent
ROOT = FOLDER.parents[1]
NAMES = sorted(
    name
    for path in FOLDER.glob("*.py")
    for name in re.findall(r'declare\("(\w+)"\)', path.read_text(encoding="utf-8"))
)


def test_there_are_components() -> None:
    assert len(NAMES) >= 6


@pytest.mark.parametrize("name", NAMES)
def test_a_component_has_its_script_and_style_and_is_listed(name: str) -> None:
    assert (FOLDER / f"{name}.js").is_file()
    assert (FOLDER / f"{name}.css").is_file()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = project["tool"]["streamlit"]["component"]["components"]
    assert {"name": name, "asset_dir": "components"} in listed


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.js")), ids=lambda path: path.name)
def test_no_script_writes_markup(path: Path) -> None:
    script = path.read_text(encoding="utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in script


def notes_in(path: Path) -> Iterator[str]:
    """What each Head in a source file names as its note."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Head":
            note = node.args[1]
            assert isinstance(note, ast.Constant), path
            yield str(note.value)


def test_every_note_a_page_opens_is_there_with_an_equation() -> None:
    package = ROOT / "ffnviz"
    sources = [package / "controls.py", *(package / "pages").rglob("*.py")]
    opened = {note for path in sources for note in notes_in(path)}
    written = {path.stem for path in (FOLDER / "notes").glob("*.html")}
    assert opened == written
    for note in written:
        text = (FOLDER / "notes" / f"{note}.html").read_text(encoding="utf-8")
        assert "<math" in text
        assert "<script" not in text
