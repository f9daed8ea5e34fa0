"""Heavy computations of this process, one after the other.

Each takes seconds, and memory of its own. Side by side they would take no less time together, and
everybody who types would wait for all of them.
"""

import threading

_ONE_AT_A_TIME = threading.Lock()


def heavy() -> threading.Lock:
    """The lock that whoever computes something heavy holds."""
    return _ONE_AT_A_TIME
