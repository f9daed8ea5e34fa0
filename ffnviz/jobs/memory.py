"""Processes that this program starts end with it, also when it is killed and can tell nobody.

Settings of glibc for freed memory; with another C library, nothing is changed.

Garbage collection at moments when no page waits for it.

Daemon threads that repeat their work and survive its errors.
"""

import ctypes
import gc
import logging
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt
_NEVER = 2**31 - 1
_LARGEST = (2**30, 2**25)  # bytes; older versions take no more than the second
_LARGE = 256 * 1024


def keep_what_is_free() -> None:
    """Have this process keep freed memory for its next batch.

    Large blocks otherwise go back to the system as soon as they are free, and needing them again
    costs every page: a fifth of the time of an index of a network of GPT-2's shape.
    """
    _call("mallopt", _TRIM_THRESHOLD, _NEVER)
    for size in _LARGEST:
        if _call("mallopt", _MMAP_THRESHOLD, size):
            return


def large_blocks_go_back() -> None:
    """Map large blocks one by one, so that each goes back to the system when it is freed.

    The threshold rises by itself otherwise, up to 32 MB, and traces then leave holes behind.
    """
    _call("mallopt", _MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Return freed memory to the system."""
    _call("malloc_trim", 0)


def _call(name: str, *numbers: int) -> bool:
    function: Any = getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
    return function is not None and bool(function(*numbers))


def freeze_loaded_objects() -> None:
    """Exempt everything loaded so far from garbage collection."""
    gc.collect()
    gc.freeze()


def collect_garbage() -> None:
    """Collect garbage, and return freed memory to the system."""
    gc.collect()
    give_back()


log = logging.getLogger(__name__)


def repeat(name: str, every_s: float, work: Callable[[], object]) -> None:
    """Repeat the work in a daemon thread of that name; errors are logged, and it goes on."""

    def loop() -> None:
        while True:
            time.sleep(every_s)
            try:
                work()
            except Exception:
                log.exception("%s goes on after an error.", name)

    threading.Thread(target=loop, name=name, daemon=True).start()


def end_with_parent() -> None:
    """End this process, started by `multiprocessing`, as soon as the one that started it ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_for, args=(parent,), daemon=True).start()


def _wait_for(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
