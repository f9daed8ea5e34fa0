"""Settings of glibc for freed memory; with another C library, nothing is changed."""

import ctypes
import sys
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
