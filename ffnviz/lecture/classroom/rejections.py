"""Delays for addresses that try many wrong codes."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

FREE = 30  # wrong codes in a window that cost no delay
WINDOW_S = 60.0
WAIT_S = 1.0
MOST_WAITING = 16  # requests of one address; more are turned away at once
MOST_ADDRESSES = 10_000


@dataclass
class WrongCodes:
    """The recent wrong codes of each address."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = asyncio.sleep
    _wrong: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)
    _waiting: dict[str, int] = field(default_factory=dict)

    async def was_wrong(self, address: str) -> bool:
        """Count a wrong code and wait as long as its address has to; False turns it away."""
        now = self.clock()
        began, n = self._wrong.pop(address, (now, 0))
        if now - began > WINDOW_S:
            began, n = now, 0
        self._wrong[address] = (began, n + 1)
        while len(self._wrong) > MOST_ADDRESSES:
            self._wrong.popitem(last=False)
        if n < FREE:
            return True
        if self._waiting.get(address, 0) >= MOST_WAITING:
            return False
        self._waiting[address] = self._waiting.get(address, 0) + 1
        try:
            await self.sleep(WAIT_S)  # type: ignore[misc]
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]
        return True
