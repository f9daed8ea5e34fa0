"""Limits on what comes from one address at once: arrivals, and wrong codes."""

import asyncio
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

MOST_ADDRESSES = 10_000
AT_ONCE = 100  # arrivals at one process; one address may be that of a whole lecture hall
EACH_S = 10.0  # so many more each second
FREE = 30  # wrong codes in a window that cost no delay
WINDOW_S = 60.0
WAIT_S = 1.0
MOST_WAITING = 16  # requests of one address; more are turned away at once


class RushError(RuntimeError):
    """More students arrive at once from one address than are let in."""


class _Recent(OrderedDict[str, tuple[float, float]]):
    """A time and a count for each of the most recent addresses."""

    def __setitem__(self, address: str, value: tuple[float, float]) -> None:
        super().__setitem__(address, value)
        while len(self) > MOST_ADDRESSES:
            self.popitem(last=False)


@dataclass
class Arrivals:
    """Recent arrivals by address: 300 students behind one are let in within 20 seconds."""

    clock: Callable[[], float] = time.monotonic
    _recent: _Recent = field(default_factory=_Recent)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, address: str) -> None:
        """Count an arrival, or refuse it.

        Raises:
            RushError: if the student has to wait; the message tells them.
        """
        with self._lock:
            now = self.clock()
            before, n = self._recent.pop(address, (now, 0.0))
            n = max(0.0, n - EACH_S * (now - before))
            is_rush = n + 1 > AT_ONCE
            self._recent[address] = (now, n if is_rush else n + 1)
        if is_rush:
            raise RushError("Many are coming at once. Your page joins by itself in a moment.")


@dataclass
class WrongCodes:
    """The recent wrong codes of each address."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _recent: _Recent = field(default_factory=_Recent)
    _waiting: Counter[str] = field(default_factory=Counter)

    async def was_wrong(self, address: str) -> bool:
        """Count a wrong code and wait as long as its address has to; False turns it away."""
        now = self.clock()
        began, n = self._recent.pop(address, (now, 0))
        if now - began > WINDOW_S:
            began, n = now, 0
        self._recent[address] = (began, n + 1)
        if n < FREE:
            return True
        if self._waiting[address] >= MOST_WAITING:
            return False
        self._waiting[address] += 1
        try:
            await self.sleep(WAIT_S)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]
        return True
