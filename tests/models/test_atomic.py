"""A file or a folder is the old one or the new one, wherever the writing of it breaks off.

At the n-th call to the system, with an error or with a kill. Run as a program it writes in a
process of its own for each place to be killed at, on a folder:
`python -m tests.models.test_atomic file|folder PATH` prints one line for each, what was then there.
"""

import errno
import itertools
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ffnviz.models.encoder.atomic import (
    check_writable,
    new_folder,
    replace_file,
    set_aside,
    write_file,
)

ROOT = Path(__file__).parents[2]
KINDS = ["file", "folder"]
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
            with broken(at, lambda: os.kill(os.getpid(), signal.SIGKILL)):
                write(kind, path, NEW)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        aside = read(kind, set_aside(path))
        print(names[read(kind, path)], names[aside], os.waitstatus_to_exitcode(status))  # noqa: T201
        if status == 0:
            return


@pytest.mark.parametrize("ever_after", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("before", [OLD, None], ids=["over an old one", "new"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_is_full_at_any_moment_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, kind: str, before: bytes | None, ever_after: bool
) -> None:
    place = tmp_path / "a" / "new" / "place"
    for at in itertools.count(1):
        if before is not None:
            write(kind, place, before)
        failed = None
        with broken(at, full_disk, ever_after=ever_after) as calls:
            try:
                write(kind, place, NEW)
            except OSError as error:
                failed = error
        if failed is None:
            assert read(kind, place) == NEW
        else:
            assert failed.errno == errno.ENOSPC
            assert failed.filename == str(place)
            if place.exists() or before is None:
                assert read(kind, place) == before
                assert hidden(tmp_path) == []
            else:  # neither rename would do: the next write puts it back
                assert calls[-3:-1] == ["rename", "rename"] or calls[-2:] == ["rename", "rename"]
                assert read(kind, set_aside(place)) == before
        if before is None and failed is not None:
            assert list(tmp_path.iterdir()) == []
        if len(calls) < at:
            break
        write(kind, place, NEW)
        assert hidden(tmp_path) == []
        shutil.rmtree(tmp_path / "a")
    assert at > 5  # it did break off somewhere


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_killed_at_any_moment_leaves_old_or_new(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    done = subprocess.run(
        [sys.executable, "-m", "tests.models.test_atomic", kind, str(place)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    outcomes = [line.split() for line in done.stdout.splitlines()]
    kill = str(-signal.SIGKILL)
    assert [code for *_, code in outcomes] == [kill] * (len(outcomes) - 1) + ["0"]
    # At one moment, between two renames, a folder is at neither place but named.
    between = ["nothing", "old", kill]
    assert outcomes.count(between) == (kind == "folder")
    for now, aside, _ in outcomes:
        assert now in ("old", "new") or [now, aside, kill] == between
    assert outcomes[0][0] == "old"
    assert outcomes[-1] == ["new", "nothing", "0"]
    assert read(kind, place) == NEW
    assert hidden(tmp_path) == []  # though each that was killed had left a draft


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_larger_than_the_system_allows_leaves_the_old_one(tmp_path: Path, kind: str) -> None:
    place, limit = tmp_path / "place", resource.RLIMIT_FSIZE
    write(kind, place, OLD)
    before = resource.getrlimit(limit)
    try:
        resource.setrlimit(limit, (len(NEW) // 2, before[1]))
        with pytest.raises(OSError, match=f"{os.strerror(errno.EFBIG)}.*place"):
            write(kind, place, NEW)
    finally:
        resource.setrlimit(limit, before)
    assert read(kind, place) == OLD
    assert hidden(tmp_path) == []


def test_an_interruption_in_the_block_leaves_the_old_folder(tmp_path: Path) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    write("folder", tmp_path / "place", OLD)
    with (
        pytest.raises(KeyboardInterrupt),
        broken(3, interrupted),
        new_folder(tmp_path / "place") as folder,
    ):
        write_file(folder / "a", NEW)
    assert read("folder", tmp_path / "place") == OLD
    assert hidden(tmp_path) == []


def test_a_draft_in_use_is_left_alone_and_that_of_a_killed_process_goes(tmp_path: Path) -> None:
    (tmp_path / ".ffnviz-0123456789abcdef.draft").mkdir()
    (tmp_path / ".ffnviz-fedcba9876543210.draft").write_bytes(b"half")
    with new_folder(tmp_path / "folder") as folder:
        replace_file(tmp_path / "file", NEW)
        assert hidden(tmp_path) == [folder.name]
        for part in PARTS:
            write_file(folder / part, NEW)
    assert read("folder", tmp_path / "folder") == NEW
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("kind", KINDS)
def test_rights_and_links_stay_as_they_were(tmp_path: Path, kind: str) -> None:
    place, mask = tmp_path / "place", os.umask(0o027)
    try:
        write(kind, place, OLD)
        for path, mode in ((place, 0o640 if kind == "file" else 0o750), (place / "a", 0o640)):
            if path.exists():
                assert stat.S_IMODE(path.stat().st_mode) == mode
        place.chmod(0o700)
        write(kind, place, NEW)
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    finally:
        os.umask(mask)
    (tmp_path / "link").symlink_to("place")
    write(kind, tmp_path / "link", OLD)
    assert (tmp_path / "link").is_symlink()
    assert read(kind, place) == OLD


def test_a_device_or_a_folder_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a device"):
        replace_file(tmp_path / "pipe", NEW)
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path, NEW)


def test_trying_whether_one_can_write_leaves_no_trace(tmp_path: Path) -> None:
    check_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(NotADirectoryError) as caught:
            check_writable(folder)
        assert caught.value.filename in (str(folder), str(tmp_path / "file"))
    with broken(1, full_disk), pytest.raises(OSError, match="No space left"):
        check_writable(tmp_path / "a" / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    (tmp_path / "loop").symlink_to("loop")
    for at in (tmp_path / "loop", tmp_path / "loop" / "below"):
        with pytest.raises(OSError, match="loop"):
            check_writable(at)


if __name__ == "__main__":
    _kill_everywhere(sys.argv[1], Path(sys.argv[2]))
