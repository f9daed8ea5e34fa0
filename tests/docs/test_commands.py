"""Every `ffnviz …` of a page, and of what the program itself prints, is typed and does its work."""

import os
import re
import signal
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from itertools import chain, groupby
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic

import pytest

from tests.docs.commands import Command, all_told, as_typed, printed
from tests.docs.place import furnish
from tests.docs.typing_in import typed
from tests.jobs.indexing.conftest import serving
from tests.lecture.class_stores import redis_server
from tests.served import free_port

# What stands where a page has “…”, FILE, or nothing.
VALUES = {
    "--corpus": "my-texts", "--descriptions": "my-tables/relu.jsonl", "--model": "gpt2",
    "--index": "my-index/relu.npz", "--sae": "sae", "--text": "How [MASK] they know?",
}  # fmt: skip
# The same work, less of it. An option without a value is left out, and so is Ray's engine, which
# has tests of its own (`tests/jobs/indexing`).
SMALLER = {
    "flips": {"--sentences": "sentences.txt"},
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
        if "app" in words and "--workers" in words:
            words[words.index("--workers") + 1] = "2"
        if words[0] == "index" and "ray" in words:
            del words[words.index("--engine") : words.index("ray") + 1]
        for option, ours in SMALLER.get(command.name, {}).items():
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
            words += [option, ours] * bool(ours)
        if words[0] == "index" and "--corpus" not in words:
            words += ["--corpus", "my-texts"]  # in place of 2,600 sentences
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


def answers(url: str, server: BaseProcess) -> bool:
    """Whether a URL answers before the server ends."""
    until = monotonic() + LONGEST_S
    while server.is_alive() and monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=LONGEST_S) as answer:
                return bool(answer.status == HTTPStatus.OK)
        except OSError:
            server.join(0.05)
    return False


@dataclass(frozen=True)
class Tried:
    """A command that was typed, what was wrong, empty if nothing, and what it printed."""

    command: Command
    wrong: str
    output: str


def run(command: Command, world: World) -> Tried:
    """Type a command, and of `app` ask for its page and stop it."""
    port, is_app = free_port(), command.name == "app"
    output = world.place.parent / f"{port}.txt"
    variables = dict(pair.split("=", 1) for pair in command.variables)
    words = [*command.words, *["--port", str(port)] * is_app]
    process = typed(words, world.place, KEYS | variables, output)
    wrong = ""
    if is_app:
        wrong = "" if answers(f"http://localhost:{port}/", process) else "its page does not answer"
        if process.is_alive():
            os.kill(process.pid or 0, signal.SIGINT)
    process.join(LONGEST_S)
    if process.is_alive():
        process.kill()
        process.join()
        wrong = "it does not end"
    text, right = output.read_text(encoding="utf-8"), 130 if is_app else 0
    if any(word.startswith("gs://") for word in words):
        right = 1 if "gs://my-bucket/texts: " in text else 0
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
    """Pages are asked for last: by then all that they show is made."""
    told, tried = all_told(), dict[Command, Tried]()
    while told:
        places = {
            world.here(command): each.place
            for each in told
            for command in as_typed(each.line, VALUES)
        }
        new = [command for command in places if command not in tried]
        app = [c for c in new if c.name == "app"]
        # Of one kind one after the other: some write to files of one name.
        kinds = groupby(sorted((c for c in new if c not in app), key=kind), kind)
        rows = [list(row) for _, row in kinds]
        with ThreadPoolExecutor(3) as some:
            done = some.map(lambda row: [run(command, world) for command in row], rows)
            ended = [*chain.from_iterable(done), *some.map(partial(run, world=world), app)]
        tried |= {each.command: each for each in ended}
        told = [t for each in ended for t in printed(each.output, f"{each.command} printed")]
    assert len(tried) > 40
    wrong = [each for each in tried.values() if each.wrong]
    assert not wrong, "\n".join(f"{each.command}: {each.wrong}\n{each.output}" for each in wrong)
