"""Writes that break off: at the n-th call to the system, with an error or with a kill.

Run as a program it writes in a process of its own for each place to be killed at, on a folder:
`python -m tests.models.broken_off file|folder PATH` prints one line for each, what was then there.
"""

import errno
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ffnviz.models.encoder.atomic import new_folder, replace_file, set_aside, write_file

CALLS = ("open", "write", "fsync", "replace", "rename", "mkdir")
OLD, NEW = b"old" * 100, b"new" * 5_000
PARTS = ("a", "b")


@contextmanager
def broken(at: int, then: Callable[[], None], *, ever_after: bool = False) -> Iterator[list[str]]:
    """From the `at`-th of these calls on, or in it alone, `then` comes first; yields the calls."""
    made: list[str] = []
    real = {name: getattr(os, name) for name in CALLS}

    def instead(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:  # reading needs no room
                return real[name](*arguments, **options)
            made.append(name)
            if len(made) == at or (ever_after and len(made) > at):
                then()
            return real[name](*arguments, **options)

        return call

    try:
        for name in CALLS:
            setattr(os, name, instead(name))
        yield made
    finally:
        for name, function in real.items():
            setattr(os, name, function)


def full_disk() -> None:
    """What a full disk answers, without a file's name."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def killed() -> None:
    """As by `kill -9`."""
    os.kill(os.getpid(), signal.SIGKILL)


def write(kind: str, path: Path, content: bytes) -> None:
    """A file with this content, or a folder whose files all have it."""
    if kind == "file":
        replace_file(path, content)
        return
    with new_folder(path) as folder:
        for part in PARTS:
            write_file(folder / part, content)


def read(kind: str, path: Path) -> bytes | None:
    """The content that `write` wrote; None where there is nothing.

    Raises:
        ValueError: where it is a mixture.
    """
    if not path.exists():
        return None
    contents = {path.read_bytes()} if kind == "file" else {(path / p).read_bytes() for p in PARTS}
    if len(contents) != 1 or not contents <= {OLD, NEW}:
        raise ValueError(f"{path} is a mixture")
    return contents.pop()


def hidden(folder: Path) -> list[str]:
    """What is left of drafts and swaps."""
    return [path.name for path in folder.rglob(".*")]


def _kill_everywhere(kind: str, path: Path) -> None:
    names = {OLD: "old", NEW: "new", None: "nothing"}
    for at in itertools.count(1):
        write(kind, path, OLD)
        child = os.fork()
        if child == 0:
            with broken(at, killed):
                write(kind, path, NEW)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        aside = read(kind, set_aside(path))
        print(names[read(kind, path)], names[aside], os.waitstatus_to_exitcode(status))  # noqa: T201
        if status == 0:
            return


if __name__ == "__main__":
    _kill_everywhere(sys.argv[1], Path(sys.argv[2]))
