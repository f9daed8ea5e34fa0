"""Memory that a batch gives back is kept for the next one.

The C library hands large pieces back to the system as soon as they are free, and whoever needs
them again pays for every page: a fifth of the time of an index of a network of GPT-2's shape.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_NEVER = 2**31 - 1
_LARGEST = (2**30, 2**25)  # bytes; older versions take no more than the second


def keep_what_is_free() -> None:
    """Have this process keep it from now on, where the C library is glibc; elsewhere nothing."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return
    mallopt(_TRIM_THRESHOLD, _NEVER)
    for size in _LARGEST:
        if mallopt(_MMAP_THRESHOLD, size):
            return
