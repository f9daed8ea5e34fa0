"""Every `ffnviz …` that people are told to type: where they stand, and what stands for “…”."""

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from ffnviz.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for pattern in ("README.md", "docs/**/*.md", "deploy/**/*.md", "assets/**/*.md")
    for path in sorted(ROOT.glob(pattern))
]
NAMES = "|".join(main.list_commands(click.Context(main)))
SET = r"(?:[A-Z_]+=\S+ +)*"
QUOTED = re.compile(rf"(?:`|“|<code>)({SET}ffnviz [a-z][^`”<]*)")
TYPED = re.compile(rf"^ *({SET}(?:\.venv/bin/)?ffnviz +[a-z].*)$", re.MULTILINE)
SAID = re.compile(rf"(?:^|(?<!^Usage): )(ffnviz (?:{NAMES})(?: .*)?)$", re.MULTILINE)
CODE = re.compile(r"^```bash\n((?:.*\n)*?)```$|^((?: {4}.*\n)+)", re.MULTILINE)
VARIABLE = re.compile(r"[A-Z_]+=\S*")
OMITTED = re.compile(r"[A-Z]+|…")


@dataclass(frozen=True)
class Told:
    """A command, and where it stands."""

    line: str
    place: str


def on_a_page(text: str, place: str) -> Iterator[Told]:
    """Those of Markdown: a line of code, or quoted in a sentence."""
    text = text.replace("\\\n", " ")
    for block in CODE.findall(f"{text}\n"):
        for found in TYPED.findall("".join(block)):
            yield Told(found, place)
    yield from _in_sentences(text, place)


def in_code(path: Path) -> Iterator[Told]:
    """Those of the strings of a module; of an f-string's values each is “…”."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.JoinedStr) for n in f.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (str(n.value) if isinstance(n, ast.Constant) else "…" for n in node.values)
            yield from printed("".join(parts), str(path.relative_to(ROOT)))
        elif isinstance(node, ast.Constant) and id(node) not in inside:
            yield from printed(str(node.value), str(path.relative_to(ROOT)))


def printed(output: str, place: str) -> Iterator[Told]:
    """Those that a command has printed, or may print."""
    yield from _in_sentences(output, place)
    for found in SAID.findall(output):
        yield Told(found, place)


def _in_sentences(text: str, place: str) -> Iterator[Told]:
    """Those that are quoted; a name alone is not a command to type."""
    for found in QUOTED.findall(text):
        words = found.split()
        if words[-2] != "ffnviz":
            yield Told(" ".join(words), place)


def all_told() -> list[Told]:
    """All of the documents' and the program's, in the order in which a reader meets them."""
    told = [
        each
        for page in PAGES
        for each in on_a_page(page.read_text(encoding="utf-8"), str(page.relative_to(ROOT)))
    ]
    for path in sorted((ROOT / "ffnviz").rglob("*.py")):
        told += in_code(path)
    for path in sorted((ROOT / "ffnviz").rglob("*.html")):
        told += on_a_page(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    return told


@dataclass(frozen=True)
class Command:
    """What is run: words behind `ffnviz`, and what is set for it."""

    words: tuple[str, ...]
    variables: tuple[str, ...]

    @property
    def name(self) -> str:
        """index, app, …"""
        return self.words[0]


def as_typed(line: str, values: Mapping[str, str]) -> list[Command]:
    """A line without its remark, with a value for each option that has none; `a|b` is two."""
    words = shlex.split(line.partition(" > ")[0].replace("…--", "--"), comments=True)
    variables = []
    while VARIABLE.fullmatch(words[0]):
        variables.append(words.pop(0))
    commands = []
    for name in words[1].split("|"):
        known = main.get_command(click.Context(main), name)
        rest = words[2:] if known is None else _whole(known, words[2:], values)
        commands.append(Command((name, *rest), tuple(variables)))
    return commands


def _whole(command: click.Command, words: list[str], values: Mapping[str, str]) -> list[str]:
    takes = {
        name: not (isinstance(option, click.Option) and option.is_flag)
        for option in command.params
        for name in option.opts
    }
    whole: list[str] = []
    for number, word in enumerate(words):
        if OMITTED.fullmatch(word):
            continue
        whole.append(word)
        after = words[number + 1 : number + 2]
        if takes.get(word) and (not after or OMITTED.fullmatch(after[0])):
            whole.append(values[word])
    return whole
