"""Hidden drafts: what is being written, under a name nobody has, beside where it will be.

Whoever writes a draft holds a lock on it. A killed process holds none any more, so the next one
that writes beside its draft knows it for dead and takes it away.
"""

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

HIDDEN = ".ffnviz-"


@contextmanager
def draft(place: Path, *, folder: bool) -> Iterator[Path]:
    """An empty file or folder beside `place`; gone at the end of the block unless renamed.

    Raises:
        OSError: if none can be made there.
    """
    path = place.with_name(f"{HIDDEN}{secrets.token_hex(8)}.draft")
    mark = None
    try:
        with locked(place.parent):
            _sweep(place.parent)
            if folder:
                path.mkdir()
            else:
                path.touch(exist_ok=False)
            mark = _lock(path, wait=False)
        yield path
    finally:
        if mark is not None:
            os.close(mark)
        _take_away(path)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time makes, sweeps and renames in a folder."""
    mark = _lock(folder, wait=True)
    try:
        yield
    finally:
        if mark is not None:
            os.close(mark)


def is_draft(path: Path) -> bool:
    """Whether this is a draft, or in one."""
    return any(part.startswith(HIDDEN) for part in path.parts[-2:])


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{HIDDEN}*.draft"):
        with suppress(OSError):  # somebody's lock, or another file system's refusal: leave it
            mark = _lock(left, wait=False)
            if mark is not None:
                os.close(mark)
                _take_away(left)


def _take_away(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _lock(path: Path, *, wait: bool) -> int | None:
    """A locked descriptor, or None where there are no such locks.

    Raises:
        BlockingIOError: if another process has the lock, and `wait` is False.
    """
    if sys.platform == "win32":
        return None
    mark = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(mark)
        raise
    except OSError:
        os.close(mark)
        return None
    return mark
