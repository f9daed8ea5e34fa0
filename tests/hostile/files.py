"""Damaged model folders, files of names, and corpora: each is read or refused with a reason."""

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ffnviz.analysis.neurons.names import NamesError, read_names
from ffnviz.jobs.indexing.sources import SourcesError, pieces_of, texts_of
from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.folder import ModelFolderError, read_folder
from ffnviz.training.corpus import CorpusError, read_books
from tests.hostile.fault import Found
from tests.hostile.texts import sentence

ODD: tuple[Any, ...] = (None, True, -1, 0, 1.5, 10**400, float("nan"), "", "x" * 9_999, [], {},
                        [[[]]], "../../etc/passwd", "relu\x00", {"a": {"b": []}})  # fmt: skip
NETWORKS = {"relu": NetworkSize(2, 2_048), "gelu": NetworkSize(2, 2_048)}


def try_folders(n: int, seed: int, good: Path, work: Path) -> Found:
    """Copies of a good model folder, each damaged somewhere."""
    rng, found = random.Random(seed), Found()
    for number in range(n):
        copy = Path(shutil.copytree(good, work / str(number)))
        if rng.random() < 0.7:  # otherwise its checksums would find nearly everything first
            edited(copy / "config.json", lambda values: values.pop("sha256", None))
        damage = rng.choice(DAMAGES)
        path = rng.choice(sorted(copy.iterdir()))
        with found.timed((damage.__name__, path.name, number)):
            damage(path, rng)
            try:
                read_folder(copy)
            except ModelFolderError as error:
                found.refused += 1
                said(error, found, (damage.__name__, path.name, number))
        shutil.rmtree(copy)
    return found


def flip(path: Path, rng: random.Random) -> None:
    """Some bytes are others."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 3, 50])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path.write_bytes(data)


def cut(path: Path, rng: random.Random) -> None:
    """Its end is missing."""
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data))])


def gone(path: Path, rng: random.Random) -> None:
    """It is not there, or it is a folder, or a link to itself."""
    path.unlink()
    kind = rng.randrange(3)
    if kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to(path)


def garbage(path: Path, rng: random.Random) -> None:
    """Something else is in it."""
    path.write_bytes(rng.choice([b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 99_999,
                                 rng.randbytes(500), b'{"a": 1' + b"0" * 9_999]))  # fmt: skip


def odd_values(path: Path, rng: random.Random) -> None:
    """Its JSON has odd values; what is not JSON is cut."""
    if path.suffix != ".json":
        cut(path, rng)
        return

    def change(values: Any) -> None:
        if isinstance(values, dict) and values:
            key = rng.choice(sorted(values))
            if isinstance(values[key], dict) and values[key] and rng.random() < 0.5:
                change(values[key])
            elif rng.random() < 0.2:
                del values[key]
            else:
                values[key] = rng.choice(ODD)
        elif isinstance(values, list) and values:
            values[rng.randrange(len(values))] = rng.choice(ODD)

    edited(path, change)


DAMAGES = (flip, cut, gone, garbage, odd_values)


def edited(path: Path, change: Callable[[Any], Any]) -> None:
    """Change the values in a JSON file."""
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def try_names(n: int, seed: int) -> Found:
    """Files of neurons' names."""
    rng, found = random.Random(seed), Found()
    for _ in range(n):
        text = names_file(rng)
        with found.timed(text):
            try:
                reading = read_names(text, NETWORKS)
            except NamesError as error:
                found.refused += 1
                said(error, found, text)
            else:
                found.refused += bool(reading.left_out)
    return found


def names_file(rng: random.Random) -> str:
    """One, more or less."""
    row = ["relu", 2, 5, "verbs", "verb", ""]
    rows: list[Any] = []
    for _ in range(rng.randrange(6)):
        new: list[Any] = list(row)
        for _ in range(rng.randrange(3)):
            odd = rng.choice([*ODD, sentence(rng), rng.randrange(-9, 9_999)])
            new[rng.randrange(len(new))] = odd
        rows.append(rng.choice([new, new[: rng.randrange(7)], {"twin": new[0]}, rng.choice(ODD)]))
    text = json.dumps(rows)
    kind = rng.randrange(5)
    if kind == 0:
        return text[: rng.randrange(len(text) + 1)]
    if kind == 1:
        return rng.choice(["[" * 99_999, "9" * 9_999, "", "{}", "NaN", "\ufeff[]", "a" * 300_000])
    return text


def try_corpora(n: int, seed: int, work: Path) -> Found:
    """Folders of books."""
    rng, found = random.Random(seed), Found()
    for number in range(n):
        folder = work / f"corpus-{number}"
        folder.mkdir()
        for book in range(rng.randrange(3)):
            a_book(folder / f"{book}{rng.choice(['.txt', '.txt', '.TXT', '.txt.txt', '.md'])}", rng)
        with found.timed((folder.name, seed)):
            try:
                for piece in pieces_of([folder])[0]:
                    sum(len(text) for text in texts_of(piece, "text", Counter()))
                read_books(folder)
            except (CorpusError, SourcesError) as error:
                found.refused += 1
                said(error, found, (folder.name, seed))
        shutil.rmtree(folder)
    return found


def a_book(path: Path, rng: random.Random) -> None:
    """Something that has a book's name."""
    kind = rng.randrange(5)
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        path.symlink_to(path.parent / "nowhere")
    elif kind == 2:
        path.write_bytes(rng.randbytes(rng.randrange(3_000)))
    else:
        text = "\n".join(sentence(rng) for _ in range(rng.randrange(20)))
        path.write_text(text, encoding="utf-8", errors="replace")


def said(error: Exception, found: Found, setup: object) -> None:
    """A refusal is a sentence, and says no more than that."""
    text = str(error)
    if not text.strip() or "Traceback" in text or len(text) > 2_000:
        found.fault(setup, f"was refused in no sentence ({text[:200]!r})")
