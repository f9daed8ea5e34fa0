"""What the browser is sent as files: every picture has its own, and nothing else is among them."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ffnviz import pictures

ROOT = Path(pictures.__file__).parents[2]
PICTURES = ROOT / "ffnviz" / "pictures" / "static"
ADAPTER = ROOT / "ffnviz" / "pictures" / "adapter"
PATCHES = ROOT / "ffnviz" / "server" / "streamlit_patches"
SCRIPTS = sorted(path for folder in (PICTURES, ADAPTER, PATCHES) for path in folder.glob("*.js"))
SHEETS = sorted(PICTURES.glob("*.css"))
DECLARED = sorted(
    name
    for path in [
        *Path(pictures.__file__).parent.glob("*.py"),
        *(ROOT / "ffnviz" / "app").glob("*.py"),
    ]
    for name in set(re.findall(r'Cell\(\s*"(\w+)"', path.read_text(encoding="utf-8")))
)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_the_shell_lists_every_picture_that_a_component_hangs() -> None:
    listed = re.findall(r'(\w+): \(\) => import\("\./(\w+)\.js"\)', text_of(PICTURES / "shell.js"))
    assert sorted(name for name, _ in listed) == DECLARED
    assert all(name == file for name, file in listed)
    assert len(DECLARED) >= 11


@pytest.mark.parametrize("name", DECLARED)
def test_a_picture_has_its_script_and_the_styles_that_it_names(name: str) -> None:
    named = re.search(r"export const styles = (\[.*?\]);", text_of(PICTURES / f"{name}.js"))
    assert named
    styles = json.loads(named[1])
    assert (f"{name}.css" in styles) == (PICTURES / f"{name}.css").is_file()
    assert all((PICTURES / file).is_file() for file in styles)


def test_streamlit_serves_the_adapter_and_the_pictures() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    assert project["tool"]["streamlit"]["component"]["components"] == [
        {"name": "picture", "asset_dir": "pictures/adapter"},
        {"name": "sheet", "asset_dir": "pictures/adapter"},
        {"name": "pictures", "asset_dir": "pictures/static"},
    ]


@pytest.mark.parametrize("folder", [PICTURES, ADAPTER], ids=lambda folder: folder.name)
def test_what_is_served_is_for_a_browser(folder: Path) -> None:
    kinds = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert kinds <= {".js", ".css", ".html", ".json"}


def found_in(paths: list[Path], *words: str) -> list[tuple[str, str]]:
    """The files that have one of the words, with the word."""
    assert len(paths) > 30
    return [(path.name, word) for path in paths for word in words if word in text_of(path)]


def test_no_script_writes_markup() -> None:
    ways = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
    assert found_in(SCRIPTS, *ways) == []


def test_no_script_waits_at_its_top_level() -> None:
    # WebKit hands out such a module, unfinished, to whoever imports it while it waits.
    waits = re.compile(r"^(?!.*\basync\b)\S.*\bawait\b", re.MULTILINE)
    assert waits.search("const { picture } = await import(one);")
    assert [path.name for path in SCRIPTS if waits.search(text_of(path))] == []


def test_no_picture_knows_streamlit() -> None:
    traces = ("--st-", "_stcore", "setTriggerValue", "parentElement.host")
    assert found_in([*PICTURES.glob("*.js"), *SHEETS], *traces) == []


def test_every_colour_of_a_style_sheet_is_in_the_palette() -> None:
    palette = json.loads(text_of(PICTURES / "palettes.json"))["light"]
    own = {
        "font",
        "accent",
        "share",
        "stage",
        "room",
        "fits",
        "under-shown",
        "row",
        "type",
        "said",
        "u",
    }
    own |= {"letters", "sentence", "seen", "opacity", "tools", "counts", "next", "legend-wrap"}
    known = set(palette) | own | {"caption", "note", "in-talk", "in-talk-place"}
    used = {path.name: set(re.findall(r"var\(--([\w-]+)", text_of(path))) for path in SHEETS}
    assert {name: colours - known for name, colours in used.items() if colours - known} == {}


def test_streamlits_own_theme_has_the_palettes_colours() -> None:
    theme = tomllib.loads(text_of(ROOT / ".streamlit" / "config.toml"))["theme"]
    palettes = json.loads(text_of(PICTURES / "palettes.json"))
    for name, palette in palettes.items():
        assert theme[name] == {
            "primaryColor": palette["focus"],
            "backgroundColor": palette["background"],
            "secondaryBackgroundColor": palette["surface"],
            "textColor": palette["text"],
            "borderColor": palette["line"],
        }


# which of their arguments names the note
NOTE_AT = {"Head": 1, "Soon": 0, "guess_cell": 2, "verdicts_of": 1}


def notes_in(path: Path) -> Iterator[str]:
    """What the heads in a source file name as their notes, and not what is handed on to one."""
    tree = ast.parse(text_of(path))
    handed_on = {
        node for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name in NOTE_AT
        for node in ast.walk(function)
    }  # fmt: skip
    for node in ast.walk(tree):
        name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and name in NOTE_AT and node not in handed_on:
            note = node.args[NOTE_AT[name]]
            for each in (note.body, note.orelse) if isinstance(note, ast.IfExp) else (note,):
                assert isinstance(each, ast.Constant), path
                yield str(each.value)


def test_every_note_a_page_opens_is_there_with_an_equation() -> None:
    package = ROOT / "ffnviz"
    rooms = ("app", "parts", "lecture")
    sources = [path for room in rooms for path in (package / room).rglob("*.py")]
    opened = {note for path in sources for note in notes_in(path) if note}
    written = {path.stem for path in (PICTURES / "notes").glob("*.html")}
    assert opened == written
    for note in written:
        text = text_of(PICTURES / "notes" / f"{note}.html")
        assert text.startswith("<p><b>"), f"{note} begins with a sentence"
        sentence = text[: text.index("</b>")]
        assert "<math" not in sentence
        assert re.search(r"[.?:]$|[.?:]</p>", text[: text.index("</p>") + 4])
        folded = re.findall(r"<details><summary>The formula</summary>\n<math", text)
        assert len(folded) == text.count("<math") > 0, f"{note} folds its formula"
        assert "<script" not in text


def test_the_glossary_has_every_term_that_needs_one() -> None:
    entries = json.loads(text_of(PICTURES / "glossary.json")).values()
    names = [name for entry in entries for name in entry["names"]]
    assert len(names) == len(set(names)), "a name leads to one entry"
    wanted = {"φ", "FFN", "W₁", "W₂", "d_ff", "block", "stream", "norm", "active", "logit",
              "nats", "entropy", "key", "value vector", "cosine", "top-p",
              "pieces of words", "2:17"}  # fmt: skip
    assert wanted <= set(names)
    for entry in entries:
        assert entry["title"]
        assert entry["text"].endswith((".", "?", ")"))
        assert len(entry["text"]) < 320


def test_what_is_hidden_is_so_in_all_pictures_by_one_rule() -> None:
    rule = re.compile(r"\[hidden\]\)?\s*\{[^}]*display:\s*none")
    saying = [path.name for path in SHEETS if rule.search(path.read_text("utf-8"))]
    assert saying == ["shell.css"]
    assert "[hidden] { display: none !important; }" in (PICTURES / "shell.css").read_text("utf-8")
