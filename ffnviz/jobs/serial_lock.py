"""The lock that long computations of this process take, so that they run one after the other.

Each takes seconds, and memory of its own. Side by side they would take no less time together, and
everybody who types would wait for all of them.
"""

import threading

SERIAL_LOCK = threading.Lock()
