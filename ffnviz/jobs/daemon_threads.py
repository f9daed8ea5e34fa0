"""Daemon threads that repeat their work and survive its errors."""

import logging
import threading
import time
from collections.abc import Callable

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
