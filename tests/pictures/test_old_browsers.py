"""No picture needs a browser newer than those that README names.

`newer_features.tsv` lists what is newer than they are, with the first version of each browser that
has it (MDN's browser-compat-data 8.0.10; – if none has).
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import ffnviz
from ffnviz.export.browsers import NO_SCRIPT, OLD_BROWSER_JS, OLDEST, TOO_OLD

ROOT = Path(ffnviz.__file__).parents[1]
STYLES = [*(ROOT / "assets").glob("*.css"), *(ROOT / "ffnviz").rglob("*.css")]
SCRIPTS = sorted((ROOT / "ffnviz").rglob("*.js"))
HEAD, *LINES = Path(__file__).with_name("newer_features.tsv").read_text("utf-8").splitlines()
NEWER = [line.split("\t") for line in LINES]

# What an older browser leaves out, and nothing else is missed with it.
MISSED = {
    "accent-color": "a slider and a box to tick have the browser's own blue",
    "field-sizing": "a box is as wide as it is at first",
    "forced-color-adjust": "Safari has no forced colours",
    "page": "paper is upright where the reader does not turn it",
    "print-color-adjust": "-webkit-print-color-adjust says the same in Chrome",
    "scroll-initial-target": "what is chosen may lie beyond the edge of a row until one slides it",
    "scrollbar-width": "a bar lies over the page",
    "CSS.registerProperty": "a list's height is settled a little later; it stands in a try",
    "ClipboardItem": "no “Copy the picture” in the menu, which asks for navigator.clipboard.write",
    "Clipboard.write": "the same",
}
STATIC = {"AbortSignal", "Atomics", "Clipboard", "CSS", "Error", "Intl", "JSON", "Math",
          "Navigator", "Promise", "ReadableStream", "RegExp", "URL"}  # fmt: skip


def pattern(kind: str, name: str) -> str:
    """Where a feature is used."""
    match kind:
        case "property":
            return rf"(?<![\w-]){name}\s*:(?!:)"
        case "selector":
            return rf":{name}(?![\w-])"
        case "at-rule":
            return rf"@{name}(?![\w-])"
        case "function":
            return rf"(?<![\w-]){name}\("
    owner, _, member = name.rpartition(".")
    # What iterators and sets have, arrays have too: there it follows what gives an iterator.
    if owner == "Iterator":
        return rf"(?<!Object)\.(?:values|keys|entries|matchAll)\([^()]*\)\.{member}\(|\bIterator\."
    if owner in STATIC:
        return rf"(?i:\b{owner})\??\.{member}\b"
    return rf"\b{member}\b"


def without_comments(path: Path) -> str:
    comment = r"/\*.*?\*/" if path.suffix == ".css" else r"^ *//[^\n]*|/\*\*.*?\*/"
    return re.sub(comment, "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def texts() -> Mapping[str, str]:
    """All style sheets, and all scripts."""
    return {
        name: "\n".join(map(without_comments, paths))
        for name, paths in (("css", STYLES), ("js", SCRIPTS))
    }


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def test_what_is_listed_is_newer() -> None:
    assert HEAD.split("\t")[2:] == [name for name in OLDEST if name != "Edge"]
    assert len(NEWER) > 300
    oldest = [version(OLDEST[name]) for name in HEAD.split("\t")[2:]]
    for kind, name, *first in NEWER:
        known = zip(first, oldest, strict=True)
        assert any(when == "–" or version(when) > then for when, then in known), (kind, name)


def test_nothing_newer_is_used(texts: Mapping[str, str]) -> None:
    used = {
        name
        for kind, name, *_ in NEWER
        if re.search(pattern(kind, name), texts["js" if kind == "script" else "css"])
    }
    assert used - set(MISSED) == set()


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("property", "text-box-trim", "a { text-box-trim: none }"),
        ("selector", "open", "details:open { color: red }"),
        ("at-rule", "starting-style", "@starting-style {}"),
        ("function", "sibling-index", "a { width: calc(sibling-index() * 1px) }"),
        ("script", "Iterator.map", "cells.values().map((cell) => cell)"),
        ("script", "Set.union", "const both = one.union(other);"),
        ("script", "Document.startViewTransition", "document.startViewTransition(act)"),
        ("script", "Promise.try", "Promise.try(act)"),
    ],
)
def test_it_would_be_found(kind: str, name: str, text: str) -> None:
    assert [kind, name] in [each[:2] for each in NEWER]
    assert re.search(pattern(kind, name), text)


def test_an_old_browser_can_read_what_it_is_told_and_readme_names_the_oldest() -> None:
    """ECMAScript 3, but for strings; and the sentence is one."""
    assert not re.search(r"=>|`|\?\.|\?\?|\b(?:let|const|class|async)\b", OLD_BROWSER_JS)
    assert f'"{TOO_OLD}"' in OLD_BROWSER_JS
    for sentence in (TOO_OLD, NO_SCRIPT):
        assert re.fullmatch(r"[^\"<>\\]+[^.]\.", sentence)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(f"{name} {first}" in readme for name, first in OLDEST.items())
