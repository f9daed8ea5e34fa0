"""How many may join classes at once from one address: a whole lecture hall may have only one."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

AT_ONCE = 100  # of one address, at one process; then so many more each second
EACH_S = 10.0
MOST_ADDRESSES = 10_000


class RushError(RuntimeError):
    """More students come at once from one address than are let in."""


@dataclass
class Arrivals:
    """Recent arrivals by address; 300 students behind one are in after 20 seconds."""

    clock: Callable[[], float] = time.monotonic
    _rush: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, address: str) -> None:
        """Count an arrival, or refuse it.

        Raises:
            RushError: if they have to wait; in words for them.
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
