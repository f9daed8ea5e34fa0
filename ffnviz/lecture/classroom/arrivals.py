"""How many may join at once from one address, which may be that of a whole lecture hall."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

AT_ONCE = 100  # from one address, at one process
EACH_S = 10.0  # so many more each second
MOST_ADDRESSES = 10_000


class RushError(RuntimeError):
    """More students arrive at once from one address than are let in."""


@dataclass
class Arrivals:
    """Recent arrivals by address: 300 students behind one are let in within 20 seconds."""

    clock: Callable[[], float] = time.monotonic
    _rush: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, address: str) -> None:
        """Count an arrival, or refuse it.

        Raises:
            RushError: if the student has to wait; the message tells them.
        """
        with self._lock:
            now = self.clock()
            before, n = self._rush.pop(address, (now, 0.0))
            n = max(0.0, n - EACH_S * (now - before))
            is_rush = n + 1 > AT_ONCE
            self._rush[address] = (now, n if is_rush else n + 1)
            while len(self._rush) > MOST_ADDRESSES:
                self._rush.popitem(last=False)
        if is_rush:
            raise RushError("Many are coming at once. Your page joins by itself in a moment.")
