"""Hidden drafts: what is being written, under a name nobody has, beside where it will be.

Whoever writes a draft holds a lock on it. A killed process holds none any more, so the next one
that writes beside its draft knows it for dead and takes it away.
"""

import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

HIDDEN = ".ffnviz-"


def is_draft(path: Path) -> bool:
    """Whether this is a draft, or in one."""
    return any(part.startswith(HIDDEN) for part in path.parts[-2:])


@contextmanager
def draft(place: Path, *, folder: bool) -> Iterator[Path]:
    """An empty file or folder beside `place`; gone at the end of the block unless renamed.

    Raises:
        OSError: if none can be made there.
    """
    path = place.with_name(f"{HIDDEN}{secrets.token_hex(8)}.draft")
    with ExitStack() as ends:
        ends.callback(_remove_draft, path)
        with locked(place.parent):  # nobody takes a new draft away before it is locked
            _sweep(place.parent)
            if folder:
                path.mkdir()
            else:
                path.touch(exist_ok=False)
            ends.enter_context(locked(path))
        yield path


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{HIDDEN}*.draft"):
        with suppress(OSError):  # somebody writes it, or there are no locks here: it stays
            os.close(lock(left, wait=False))
            _remove_draft(left)


def _remove_draft(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time has a file or a folder, where there are such locks."""
    mark = None
    with suppress(OSError):
        mark = lock(path, wait=True)
    try:
        yield
    finally:
        if mark is not None:
            os.close(mark)


def lock(path: Path, *, wait: bool) -> int:
    """The descriptor that holds the lock.

    Raises:
        OSError: if another process has it and `wait` is False, or if there are no such locks.
    """
    if sys.platform == "win32":
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), str(path))
    mark = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(mark)
        raise
    return mark
