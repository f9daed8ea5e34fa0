"""Daemon threads that repeat their work and survive its errors."""

import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger(__name__)


def repeat(name: str, every_s: float, work: Callable[[], object]) -> None:
    """Repeat the work in a daemon thread; what it raises is logged, and it goes on.

    Args:
        name: of the thread.
        every_s: seconds from one time to the next.
        work: what to do.
    """

    def loop() -> None:
        while True:
            time.sleep(every_s)
            try:
                work()
            except Exception:
                log.exception("%s goes on after an error.", name)

    threading.Thread(target=loop, name=name, daemon=True).start()
