"""Hidden drafts: files and folders that are being written, under unique names beside their place.

The process that writes a draft holds a lock on it. Of a killed process the lock is gone, so the
next one that writes in the same folder removes the draft.
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
    """Whether a path is a draft, or in one."""
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
        with locked(place.parent):  # no other process removes a new draft before it is locked
            _sweep(place.parent)
            if folder:
                path.mkdir()
            else:
                path.touch(exist_ok=False)
            ends.enter_context(locked(path))
        yield path


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{HIDDEN}*.draft"):
        with suppress(OSError):  # in use, or there are no locks here: it stays
            os.close(lock(left, wait=False))
            _remove_draft(left)


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
    """The descriptor that holds the lock.

    Raises:
        OSError: if another process has it and `wait` is False, or if there are no such locks.
    """
    if sys.platform == "win32":
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), str(path))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
