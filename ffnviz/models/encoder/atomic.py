"""Files and folders that are there whole or not at all, whatever breaks off the writing of them.

What is new is written as a draft, brought to the disk, and renamed (Pillai et al. 2014, "All File
Systems Are Not Created Equal", section 3, says why each of these is needed).
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ffnviz.models.encoder.draft import HIDDEN, draft, is_draft, locked


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file; one that was there stays until the new one is complete.

    Raises:
        OSError: naming the file. What was there before is there still.
    """
    path = real(path)
    with _named(path), _parents(path.parent), draft(path, folder=False) as new:
        if path.exists():
            _check_replaceable(path)
            shutil.copymode(path, new)
        write_file(new, content)
        new.replace(path)
        _sync(path.parent)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of `path`, with all in it, at the end of the block.

    Between two renames there is no `path`. Whoever is killed just then leaves `set_aside(path)`,
    which the next write puts back first.

    Raises:
        OSError: naming the folder. What was there before is there still.
    """
    path = real(path)
    with _named(path), _parents(path.parent):
        with locked(path.parent):
            _put_back(path)
        with draft(path, folder=True) as new:
            if path.exists():
                shutil.copymode(path, new)
            yield new
            _sync(new)
            with locked(path.parent):
                _swap(new, path)


def write_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file in place, and wait until the disk has it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(file, left) :]
        os.fsync(file)
    finally:
        os.close(file)


def check_writable(folder: Path) -> None:
    """Try whether a file can be written in a folder, which need not be there yet; leave no trace.

    Raises:
        OSError: naming the folder, if not.
    """
    folder = real(folder)
    missing = _missing(folder)
    try:
        with _named(folder), _parents(folder), draft(folder / "trial", folder=False) as trial:
            write_file(trial, bytes(4_096))  # a full disk takes an empty file
    finally:
        _remove(missing)


def check_file(path: Path) -> None:
    """Try whether a file can be written in a folder that is there; leave no trace.

    Raises:
        OSError: naming the folder or the file, if not.
    """
    path = real(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    if path.exists():
        _check_replaceable(path)
    check_writable(path.parent)


def real(path: Path) -> Path:
    """Where a path leads to, so that a link goes on pointing there; a link to itself stays one."""
    return Path(os.path.realpath(path))  # Path.resolve raises a RuntimeError on these


def set_aside(path: Path) -> Path:
    """Where the folder that was at `path` is while another takes its place."""
    path = real(path)
    return path.with_name(f"{HIDDEN}{path.name}.old")


def _swap(new: Path, path: Path) -> None:
    if not path.exists():
        new.rename(path)
        _sync(path.parent)
        return
    old = set_aside(path)
    path.rename(old)
    try:
        new.rename(path)
    except BaseException:
        with suppress(OSError):  # if the new one has arrived after all, it stays
            old.rename(path)
        raise
    _sync(path.parent)
    shutil.rmtree(old, ignore_errors=True)


def _put_back(path: Path) -> None:
    """Finish a swap that was broken off by a kill."""
    old = set_aside(path)
    if not old.is_dir():
        return
    if path.exists():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.rename(path)


def _check_replaceable(path: Path) -> None:
    """What could not be opened for writing is not replaced either."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a device, not a file", str(path))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _sync(folder: Path) -> None:
    """Wait until the disk has the names in a folder, where the system can be asked that.

    If it has them not, a power cut may bring back what was there before, as it was.
    """
    with suppress(OSError):
        mark = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(mark)
        finally:
            os.close(mark)


@contextmanager
def _parents(folder: Path) -> Iterator[None]:
    """Make a folder and those above it; after a failure, those that were made are gone again."""
    missing = _missing(folder)
    try:
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
        yield
    except BaseException:
        _remove(missing)
        raise


def _missing(folder: Path) -> list[Path]:
    """The folders on the way to this one that are not there, this one first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]


def _remove(folders: list[Path]) -> None:
    for each in folders:
        with suppress(OSError):  # not empty any more: another needs it
            each.rmdir()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors name the file a person knows: not a draft, and not nothing."""
    try:
        yield
    except OSError as error:
        if error.filename is None or is_draft(Path(os.fsdecode(error.filename))):
            error.filename = str(path)
        raise
