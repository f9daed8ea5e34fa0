"""What the browser is sent as files: every picture has its own, and nothing else is among them."""

import ast
import json
import logging
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ffnviz import pictures
from ffnviz.app import mounting
from ffnviz.export.bundle import pictures_listed
from ffnviz.pictures.plot import DARK, LIGHT

ROOT = Path(pictures.__file__).parents[2]
PICTURES = ROOT / "ffnviz" / "pictures" / "static"
ADAPTER = ROOT / "ffnviz" / "pictures" / "adapter"
PATCHES = ROOT / "ffnviz" / "server" / "streamlit_patches"
SCRIPTS = sorted(path for folder in (PICTURES, ADAPTER, PATCHES) for path in folder.glob("*.js"))
SHEETS = sorted(PICTURES.glob("*.css"))
DECLARED = sorted(
    name
    for folder in ("pictures", "app")
    for path in (ROOT / "ffnviz" / folder).glob("*.py")
    for name in set(re.findall(r'Cell\(\s*"(\w+)"', path.read_text(encoding="utf-8")))
)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_the_shell_lists_every_picture_that_a_component_hangs() -> None:
    assert sorted(pictures_listed()) == DECLARED
    assert text_of(PICTURES / "shell.js").count("(await import(") == len(DECLARED)
    assert len(DECLARED) >= 11


@pytest.mark.parametrize("name", DECLARED)
def test_a_picture_has_its_script_and_the_styles_that_it_names(name: str) -> None:
    listed = pictures_listed()[name]
    assert f"export function {listed.mount}(" in text_of(PICTURES / listed.script)
    assert (f"{name}.css" in listed.styles) == (PICTURES / f"{name}.css").is_file()
    assert all((PICTURES / file).is_file() for file in listed.styles)


def test_the_folders_that_are_served_hold_what_is_for_a_browser() -> None:
    for folder in [PICTURES, ADAPTER]:
        kinds = {path.suffix for path in folder.rglob("*") if path.is_file()}
        assert kinds <= {".js", ".css", ".html", ".json"}


def found_in(paths: list[Path], *words: str) -> list[tuple[str, str]]:
    """The files that have one of the words, with the word."""
    assert len(paths) > 30
    return [(path.name, word) for path in paths for word in words if word in text_of(path)]


def test_no_script_writes_markup_waits_at_its_top_level_or_knows_streamlit() -> None:
    ways = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
    assert found_in(SCRIPTS, *ways) == []
    # WebKit hands out such a module, unfinished, to whoever imports it while it waits.
    waits = re.compile(r"^(?!.*\basync\b)\S.*\bawait\b", re.MULTILINE)
    assert waits.search("const { picture } = await import(one);")
    assert [path.name for path in SCRIPTS if waits.search(text_of(path))] == []
    traces = ("--st-", "_stcore", "setTriggerValue", "parentElement.host")
    assert found_in([*PICTURES.glob("*.js"), *SHEETS], *traces) == []


def test_every_colour_of_a_style_sheet_and_of_streamlits_theme_is_in_the_palette() -> None:
    palettes = json.loads(text_of(PICTURES / "palettes.json"))
    own = {"font", "accent", "share", "stage", "room", "fits", "under-shown", "row", "type", "said"}
    own |= {"letters", "sentence", "seen", "opacity", "tools", "counts", "next", "legend-wrap", "u"}
    known = set(palettes["light"]) | own | {"caption", "note", "in-talk", "in-talk-place"}
    used = {path.name: set(re.findall(r"var\(--([\w-]+)", text_of(path))) for path in SHEETS}
    assert {name: colours - known for name, colours in used.items() if colours - known} == {}
    theme = tomllib.loads(text_of(ROOT / ".streamlit" / "config.toml"))["theme"]
    for name, palette in palettes.items():
        assert theme[name] == {
            "primaryColor": palette["focus"],
            "backgroundColor": palette["background"],
            "secondaryBackgroundColor": palette["surface"],
            "textColor": palette["text"],
            "borderColor": palette["line"],
        }
    rule = re.compile(r"\[hidden\]\)?\s*\{[^}]*display:\s*none")
    assert [path.name for path in SHEETS if rule.search(text_of(path))] == ["shell.css"]
    assert "[hidden] { display: none !important; }" in text_of(PICTURES / "shell.css")


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


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_colours_stand_out_from_the_background_in_both_themes() -> None:
    for palette in (LIGHT, DARK):
        stands_out = partial(contrast, palette.background)
        for name in ("text", "muted", "relu", "gelu", "learned", "learned_other"):
            assert stands_out(getattr(palette, name)) >= 4.5
        assert 2 < stands_out(palette.positive_mid) < stands_out(palette.positive)
        assert 2 < stands_out(palette.negative_mid) < stands_out(palette.negative)
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def record_of(error: OSError) -> logging.LogRecord:
    logger = logging.getLogger(mounting._SERVER_LOG)
    try:
        raise error
    except OSError:
        record = logger.makeRecord(
            logger.name, logging.ERROR, __file__, 1, "Error reading", (), sys.exc_info()
        )
    assert logger.filter(record)
    return record


def test_a_missing_file_is_one_line_in_the_log_and_an_unreadable_one_a_trace() -> None:
    assert "Traceback" not in logging.Formatter().format(record_of(FileNotFoundError("x.py")))
    assert "Traceback" in logging.Formatter().format(record_of(PermissionError("chart.js")))
