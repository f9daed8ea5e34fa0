"""Files and folders that are written completely or not at all, whatever interrupts the writing.

New content is written as a draft, synced to the disk, and renamed (Pillai et al. 2014, "All File
Systems Are Not Created Equal", section 3, says why each of these is needed).

The process that writes a draft holds a lock on it. Of a killed process the lock is gone, so the
next one that writes in the same folder removes the draft.
"""

import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

HIDDEN = ".ffnviz-"


def is_draft(path: Path) -> bool:
    """Whether a path is a draft, or in one."""
    return any(part.startswith(HIDDEN) for part in path.parts[-2:])


@contextmanager
def draft(place: Path, *, folder: bool) -> Iterator[Path]:
    """An empty file or folder beside `place`; gone at the end of the block unless renamed."""
    path = place.with_name(f"{HIDDEN}{secrets.token_hex(8)}.draft")
    with ExitStack() as ends:
        ends.callback(_remove_draft, path)
        with locked(place.parent):  # no other process removes a new draft before it is locked
            for left in place.parent.glob(f"{HIDDEN}*.draft"):
                with suppress(OSError):  # in use, or there are no locks here: it stays
                    os.close(lock(left, wait=False))
                    _remove_draft(left)
            if folder:
                path.mkdir()
            else:
                path.touch(exist_ok=False)
            ends.enter_context(locked(path))
        yield path


def _remove_draft(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on a file or a folder, where the system has such locks."""
    with ExitStack() as ends:
        with suppress(OSError):
            ends.callback(os.close, lock(path, wait=True))
        yield


def lock(path: Path, *, wait: bool) -> int:
    """The descriptor that holds the lock."""
    if sys.platform == "win32":
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), str(path))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file; an existing one stays until the new one is complete."""
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
    """A folder to fill, which replaces `path` at the end of the block; else all stays as it was.

    Between two renames there is no `path`. A process that is killed just then leaves
    `set_aside(path)`, which the next write puts back first.
    """
    path = real(path)
    old = set_aside(path)
    with _named(path), _parents(path.parent):
        with locked(path.parent):  # finish a swap that a kill interrupted
            if old.is_dir() and path.exists():
                shutil.rmtree(old, ignore_errors=True)
            elif old.is_dir():
                old.rename(path)
        with draft(path, folder=True) as new:
            if path.exists():
                shutil.copymode(path, new)
            yield new
            _sync(new)
            with locked(path.parent):
                _swap(new, path, old)


def write_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file in place, and wait until it is on the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_writable(folder: Path) -> None:
    """Try to write in a folder, which need not exist yet; nothing of it stays."""
    folder = real(folder)
    with (
        _named(folder),
        _parents(folder, stay=False),
        draft(folder / "trial", folder=False) as trial,
    ):
        write_file(trial, bytes(4_096))  # a full disk takes an empty file


def check_file(path: Path) -> None:
    """Try to write a file in an existing folder; nothing of it stays."""
    path = real(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    if path.exists():
        _check_replaceable(path)
    check_writable(path.parent)


def real(path: Path) -> Path:
    """The target of a path, so that a symbolic link survives; a link to itself stays as it is."""
    return Path(os.path.realpath(path))  # Path.resolve raises a RuntimeError for a link to itself


def set_aside(path: Path) -> Path:
    """Where the former folder at `path` is kept while another takes its place."""
    path = real(path)
    return path.with_name(f"{HIDDEN}{path.name}.old")


def _swap(new: Path, path: Path, old: Path) -> None:
    if not path.exists():
        new.rename(path)
        _sync(path.parent)
        return
    path.rename(old)
    try:
        new.rename(path)
    except BaseException:
        with suppress(OSError):  # if the new folder has arrived after all, it stays
            old.rename(path)
        raise
    _sync(path.parent)
    shutil.rmtree(old, ignore_errors=True)


def _check_replaceable(path: Path) -> None:
    """Check that a file could be opened for writing, as replacing it does not."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a device, not a file", str(path))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _sync(folder: Path) -> None:
    """Wait until a folder's names are on the disk, lest a power cut bring the former ones back."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _parents(folder: Path, *, stay: bool = True) -> Iterator[None]:
    """Make a folder and its parents; those that were made are removed after a failure.

    Without `stay`, they are removed in any case.
    """
    to_remove = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        for each in reversed(to_remove):
            each.mkdir(exist_ok=True)
        yield
        if stay:
            to_remove = []
    finally:
        for each in to_remove:
            with suppress(OSError):  # no longer empty: another process uses it
                each.rmdir()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors name the file that a person asked for, instead of a draft or nothing."""
    try:
        yield
    except OSError as error:
        if error.filename is None or is_draft(Path(os.fsdecode(error.filename))):
            error.filename = str(path)
        raise
