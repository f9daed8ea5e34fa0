"""A file or a folder is the old one or the new one, wherever the writing of it breaks off."""

import errno
import itertools
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ffnviz.models.encoder.atomic import (
    check_writable,
    new_folder,
    replace_file,
    set_aside,
    write_file,
)
from tests.models.broken_off import NEW, OLD, broken, full_disk, hidden, read, write

ROOT = Path(__file__).parents[2]
KINDS = ["file", "folder"]


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
        remove(place)
    assert at > 5  # it did break off somewhere


def interrupted() -> None:
    """As by Ctrl-C."""
    raise KeyboardInterrupt


def remove(place: Path) -> None:
    """The place, and the folders that were made for it."""
    for path in sorted(place.rglob("*")):
        path.unlink()
    if place.is_dir():
        place.rmdir()
    else:
        place.unlink()
    place.parent.rmdir()
    place.parent.parent.rmdir()


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_killed_at_any_moment_leaves_the_old_or_the_new(
    tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "place"
    done = subprocess.run(
        [sys.executable, "-m", "tests.models.broken_off", kind, str(place)],
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
    place = tmp_path / "place"
    write(kind, place, OLD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(NEW) // 2, before[1]))
    try:
        with pytest.raises(OSError, match="place") as caught:
            write(kind, place, NEW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG
    assert read(kind, place) == OLD
    assert hidden(tmp_path) == []


def test_an_interruption_in_the_block_leaves_the_old_folder(tmp_path: Path) -> None:
    write("folder", tmp_path / "place", OLD)
    with (
        pytest.raises(KeyboardInterrupt),
        broken(3, interrupted),
        new_folder(tmp_path / "place") as folder,
    ):
        write_file(folder / "a", NEW)
    assert read("folder", tmp_path / "place") == OLD
    assert hidden(tmp_path) == []


def test_what_somebody_is_writing_is_left_alone_and_what_a_killed_one_left_goes(
    tmp_path: Path,
) -> None:
    (tmp_path / ".ffnviz-0123456789abcdef.draft").mkdir()
    (tmp_path / ".ffnviz-fedcba9876543210.draft").write_bytes(b"half")
    with new_folder(tmp_path / "folder") as folder:
        replace_file(tmp_path / "file", NEW)
        assert hidden(tmp_path) == [folder.name]
        for part in ("a", "b"):
            write_file(folder / part, NEW)
    assert read("folder", tmp_path / "folder") == NEW
    assert hidden(tmp_path) == []


def test_rights_are_those_of_any_new_file_or_of_the_one_before(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        for kind in KINDS:
            write(kind, tmp_path / kind, OLD)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
        assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o750
        assert stat.S_IMODE((tmp_path / "folder" / "a").stat().st_mode) == 0o640
        for kind in KINDS:
            (tmp_path / kind).chmod(0o700)
            write(kind, tmp_path / kind, NEW)
            assert stat.S_IMODE((tmp_path / kind).stat().st_mode) == 0o700
    finally:
        os.umask(mask)


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_goes_on_pointing_to_what_was_written(tmp_path: Path, kind: str) -> None:
    write(kind, tmp_path / "place", OLD)
    (tmp_path / "link").symlink_to("place")
    write(kind, tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert read(kind, tmp_path / "place") == NEW


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a device"):
        replace_file(tmp_path / "pipe", NEW)
    assert (tmp_path / "pipe").is_fifo()


def test_a_folder_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "place", NEW)


def test_a_link_to_itself_is_an_error_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for at in (tmp_path / "loop", tmp_path / "loop" / "below"):
        with pytest.raises(OSError, match="loop"):
            check_writable(at)


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
