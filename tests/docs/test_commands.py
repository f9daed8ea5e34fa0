"""Every `ffnviz …` of a page, and of what the program itself prints, is typed and does its work."""

import ast
import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from transformers import AutoModelForCausalLM, GPT2Config

from ffnviz.cli import main
from tests.analysis.features.folders import drawn, saved
from tests.docs.typing_in import typed
from tests.jobs.indexing.conftest import serving
from tests.lecture.class_stores import redis_server
from tests.models.external.families import GPT2, build
from tests.models.external.folders import TOKENIZERS
from tests.served import free_port

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
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


def on_a_page(text: str) -> Iterator[str]:
    """Those of Markdown: a line of code, or quoted in a sentence."""
    text = text.replace("\\\n", " ")
    for block in CODE.findall(f"{text}\n"):
        yield from TYPED.findall("".join(block))
    yield from _in_sentences(text)


def in_code(source: str) -> Iterator[str]:
    """Those of the strings of a module; of an f-string's values each is “…”."""
    tree = ast.parse(source)
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.JoinedStr) for n in f.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (str(n.value) if isinstance(n, ast.Constant) else "…" for n in node.values)
            yield from printed("".join(parts))
        elif isinstance(node, ast.Constant) and id(node) not in inside:
            yield from printed(str(node.value))


def printed(output: str) -> Iterator[str]:
    """Those that a command has printed, or may print."""
    yield from _in_sentences(output)
    yield from SAID.findall(output)


def _in_sentences(text: str) -> Iterator[str]:
    """Those that are quoted; a name alone is not a command to type."""
    for found in QUOTED.findall(text):
        words = found.split()
        if words[-2] != "ffnviz":
            yield " ".join(words)


def all_told() -> Iterator[str]:
    """All of the documents' and the program's, in the order in which a reader meets them."""
    for page in DOCUMENTS:
        yield from on_a_page(page.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "ffnviz").rglob("*.py")):
        yield from in_code(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "ffnviz").rglob("*.html")):
        yield from on_a_page(path.read_text(encoding="utf-8"))


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


TEXTS = ("She lit the fire and made tea.\nThe dog slept.\n", "The boat left at dawn.\n")
LINES = [
    f"The {animal} {does} in the {place}. " * 4
    for animal in ("cat", "dog", "old man", "girl")
    for does in ("sat", "slept", "sang", "ran")
    for place in ("house", "garden", "rain")
]
LECTURE = """
title = "One word is missing"
[[scene]]
title = "What could it be?"
say = "The network says {says}, with {says_share}."
link = "?page=journey&text=How+[MASK]+they+know%3F"
[scene.question]
ask = "Which word is hidden?"
options = ["do", "does"]
answer = 1
"""


def furnish(place: Path) -> None:
    """Write what the commands read."""
    for name in ("my-texts", "folder", "shared/texts"):
        for number, text in enumerate(TEXTS):
            _write(place / name / f"{number}.txt", text)
    for name in ("first", "second", "a-book"):
        _write(place / "books" / f"{name}.txt", "\n".join(LINES))
    _write(place / "sentences.txt", "\n".join(line.split(". ")[0] for line in LINES))
    _write(place / "few.txt", "\n".join(TEXTS))
    for name in ("my.toml", "one.toml"):
        _write(place / name, LECTURE)
    _trained(place, place / "assets" / "models" / "relu")
    _network(place / "gpt2", 2)
    for name in ("my-network", "step-10", "step-100"):
        shutil.copytree(place / "gpt2", place / name)
    _network(place / "shared" / "my-7b", 24)
    sae = saved(place / "sae", drawn("standard", 512, 64), "blocks.0.hook_mlp_out") / "cfg.json"
    sae.write_text(sae.read_text().replace('"tiny"', '"relu"'))
    row = {"modelId": "gpt2", "layer": "0", "index": "3", "description": "cats"}
    _write(place / "explanations" / "batch-0.jsonl", json.dumps(row))


def _trained(place: Path, out: Path) -> None:
    """Two steps of a network of our own, with the record of them."""
    small = "--d-model 32 --d-ff 64 --blocks 1 --heads 2 --vocabulary 300 --steps 2 --points 2"
    words = ["train", "--corpus", place / "books", "--out", out, "--work", place / ".first"]
    words += ["--hold-out", "second", "--warmup-steps", 1, *small.split()]
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output


def _network(folder: Path, n_blocks: int) -> None:
    config = GPT2Config(**{**GPT2, "n_layer": n_blocks})
    network: Any = build(lambda: AutoModelForCausalLM.from_config(config))
    network.save_pretrained(folder)
    TOKENIZERS["GPT-2"]().save_pretrained(folder)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# What stands where a page has “…”, FILE, or nothing.
VALUES = {
    "--corpus": "my-texts", "--descriptions": "my-tables/relu.jsonl", "--model": "gpt2",
    "--index": "my-index/relu.npz", "--sae": "sae", "--text": "How [MASK] they know?",
}  # fmt: skip
# The same work, less of it. An option without a value is left out, and so is Ray's engine, which
# has tests of its own (`tests/jobs/indexing`).
SMALLER = {
    "flips": {"--sentences": "few.txt"},
    "index": {"--workers": "1", "--address": "", "--gpus-per-worker": ""},
    "learn": {"--steps": "2"},
    "study": {"--steps": "1", "--seeds": "1", "--variant": "one-block"},
    "timing": {"--repeats": "1"},
    "train": {"--steps": "2", "--warmup-steps": "1", "--points": "2"},
}
NOBODY = "127.0.0.1:9"  # no server stands for Google's: what is tried is its sentence
KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret", "HF_HUB_OFFLINE": "1"}
LONGEST_S = 300


@dataclass(frozen=True)
class World:
    """The folder in which commands are typed, and the servers that its addresses lead to."""

    place: Path
    redis: str
    store: str

    def here(self, command: Command) -> Command:
        """The command with this machine's addresses and folders, and less of its work."""
        words = list(command.words)
        if "-o" in words:  # commands that differ in the page's name alone are run once
            words[words.index("-o") + 1] = "page.html"
        if "--live" in words and "--lecture" in words:
            words[words.index("--lecture") + 1] = "my.toml"  # a short one
        if words[0] == "index" and "ray" in words:
            del words[words.index("--engine") : words.index("ray") + 1]
        for option, ours in SMALLER.get(command.name, {}).items():
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
            words += [option, ours] * bool(ours)
        if words[0] == "index" and "--corpus" not in words:
            words += ["--corpus", "my-texts"]  # in place of 2,600 sentences
        if words[0] == "index" and not {"--twin", "--model"} & {*words}:
            words += ["--twin", "relu"]
        if words[0] == "train" and "--out" in words:  # one folder of checkpoints for each
            words += ["--work", f"work-of-{words[words.index('--out') + 1]}"]
        for theirs, ours in {
            r"^redis://10\.0\.0\.7:6379": self.redis,
            r"minio\.local:9000": self.store,
            r"(?<=\?)(?=region=eu-west-1)": f"endpoint_override={self.store}&scheme=http&",
            r"^gs://(.*)": rf"gs://anonymous@\1?endpoint_override={NOBODY}&scheme=http",
            r"^/shared/": f"{self.place}/shared/",
        }.items():
            words = [re.sub(theirs, ours, word) for word in words]
        return replace(command, words=tuple(words))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    pytest.importorskip("transformers")
    place = tmp_path_factory.mktemp("typed")
    furnish(place)
    with redis_server(tmp_path_factory.mktemp("redis")) as redis, serving() as store:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in KEYS.items():
                patch.setenv(name, value)
            store.put(place / "folder", "my-bucket/texts")
        yield World(place, redis, store.host)


@dataclass(frozen=True)
class Tried:
    """A command that was typed, what was wrong, empty if nothing, and what it printed."""

    command: Command
    wrong: str
    output: str


def run(command: Command, world: World) -> Tried:
    """Type a command; an `app` is told another port than the others."""
    port = free_port()
    output = world.place.parent / f"{port}.txt"
    variables = dict(pair.split("=", 1) for pair in command.variables)
    words = [*command.words, *["--port", str(port)] * (command.name == "app")]
    process = typed(words, world.place, KEYS | variables, output)
    process.join(LONGEST_S)
    wrong = ""
    if process.is_alive():
        process.kill()
        process.join()
        wrong = "it does not end"
    text, right = output.read_text(encoding="utf-8"), 0
    if any(word.startswith("gs://") for word in words):
        right = int("gs://my-bucket/texts: " in text)
    if not wrong and process.exitcode != right:
        wrong = f"it ends with {process.exitcode}"
    if not wrong and "Traceback" in text:
        wrong = "it prints a traceback"
    return Tried(command, wrong, text)


def kind(command: Command) -> str:
    """What no two run of at once; those that mostly wait are a kind of their own."""
    waits = any(word == "ray" or word.startswith("gs://") for word in command.words)
    return "waits" if waits else command.name


def test_every_command_that_one_is_told_to_type_works(world: World) -> None:
    """An `app` comes last: by then all that it shows is made."""
    told, tried = list(all_told()), dict[Command, Tried]()
    while told:
        asked = (command for line in told for command in as_typed(line, VALUES))
        new = [command for command in dict.fromkeys(map(world.here, asked)) if command not in tried]
        app = [c for c in new if c.name == "app"]
        # Of one kind one after the other: some write to files of one name.
        kinds = groupby(sorted((c for c in new if c not in app), key=kind), kind)
        rows = [list(row) for _, row in kinds]
        with ThreadPoolExecutor(3) as some:
            done = some.map(lambda row: [run(command, world) for command in row], rows)
            ended = [*chain.from_iterable(done), *some.map(partial(run, world=world), app)]
        tried |= {each.command: each for each in ended}
        told = [line for each in ended for line in printed(each.output)]
    assert len(tried) > 40
    wrong = [each for each in tried.values() if each.wrong]
    assert not wrong, "\n".join(f"{each.command}: {each.wrong}\n{each.output}" for each in wrong)
