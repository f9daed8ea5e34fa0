"""The texts of the page: habits that are not English stay out, and sentences stay short."""

import json
import re
import tomllib
from html import unescape
from pathlib import Path
from statistics import fmean

import pytest

ROOT = Path(__file__).parents[1]
NOTES = ROOT / "ffnviz" / "pictures" / "static" / "notes"
WORDS = 16  # a sentence, on average
# What is not written, and what is written instead.
INSTEAD = {
    r"\b(asleep|awake|wakes?)\b": "active, inactive; fires on",
    r"\b[Hh]idden units?\b": "hidden neurons",
    r"\b(Counted|Shown|Drawn|Compared|Measured) (are|is) (the|those)\b": "The … are counted",
    r"\bare such\b|\bso many as\b|\bas they are spelt\b": "say it in full",
    r"\b(that|which) (we|one|you) have (of|from)\b": "the verb that says what is done",
    r"\btwice as (much|many) as if\b": "twice as many as when",
    r"\bsub-layers?\b": "attention and FFN, by name",
    r"\btelephone\b": "phone",
    r"\b[Oo]ne sees\b(?! \{)": "you see",
    r"\bmultipl(y|ies|ied) with\b": "multiplied by",
    r"\b(its|output's) norm\b": "its length; norm only in formulas and LayerNorm",
    r"\b(do|make|of) so many\b": "that many, or the number",
    r"\b(hidden|ReLU|n|more) units?\b|\bkinks?\b": "neurons; corners",
    r"\b(is|are) another than\b|\bone over the other\b": "differs from; one above the other",
}  # fmt: skip
# What a reader of the code may say, and the page may not.
OFF_THE_PAGE = {r"\btwins?\b": "the networks; ReLU and GELU"}


def plain(html: str) -> str:
    """The words of a note, without its formulas."""
    return unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<math.*?</math>", "", html, flags=re.DOTALL)))


def lecture(name: str) -> str:
    """All that a lecture says, a line each."""
    text = (ROOT / "assets" / "lectures" / f"{name}.toml").read_text(encoding="utf-8")
    said = []
    for scene in tomllib.loads(text)["scene"]:
        said += [scene["title"], scene["say"], scene.get("notes", "")]
        if question := scene.get("question"):
            said += [question["ask"], *question["options"]]
    return re.sub(r"\{\w+\}", "7", "\n".join(said))


def glossary() -> str:
    entries = json.loads((NOTES.parent / "glossary.json").read_text(encoding="utf-8"))
    return "\n".join(each["text"] for each in entries.values())


TEXTS = {
    **{path.name: plain(path.read_text(encoding="utf-8")) for path in sorted(NOTES.glob("*.html"))},
    **{name: lecture(name) for name in ("ffn", "course")},
    **{path: (ROOT / path).read_text(encoding="utf-8")
       for path in ("README.md", "docs/pages.md", "docs/teach.md", "docs/twins.md")},
    "glossary": glossary(),
}  # fmt: skip


@pytest.mark.parametrize("habit", [*INSTEAD, *OFF_THE_PAGE])
def test_a_habit_stays_out(habit: str) -> None:
    links = r"\]\([^)]*\)|`[^`]*`|part=\w+"  # no words
    found = {
        name: re.sub(links, "", text)[max(0, at.start() - 40) : at.end() + 20]
        for name, text in TEXTS.items()
        if habit in INSTEAD or not name.endswith(".md")
        for at in re.finditer(habit, re.sub(links, "", text))
    }
    assert not found, f"write “{(INSTEAD | OFF_THE_PAGE)[habit]}”: {found}"


@pytest.mark.parametrize(
    "names", [[each for each in TEXTS if each.endswith(".html")], ["ffn"], ["course"], ["glossary"]]
)
def test_sentences_are_short(names: list[str]) -> None:
    sentences = [
        sentence.split()
        for name in names
        for sentence in re.split(r"(?<=[.?!:])\s+|\n", TEXTS[name])
        if len(sentence.split()) > 2
    ]
    assert fmean(map(len, sentences)) <= WORDS


def test_every_term_of_the_glossary_is_used() -> None:
    entries = json.loads((NOTES.parent / "glossary.json").read_text(encoding="utf-8"))
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("parts", "pictures", "analysis", "app")
        for path in (ROOT / "ffnviz" / folder).rglob("*.py")
    )
    said = sources + "\n".join(TEXTS.values())
    for entry in entries.values():
        assert any(name in said for name in entry["names"]), entry["title"]
