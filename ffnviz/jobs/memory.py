"""Memory, threads and processes: garbage, work that is repeated, an end with the parent."""

import gc
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable

from ffnviz.models.external.memory import give_back


def freeze_loaded_objects() -> None:
    """Exempt everything loaded so far from garbage collection."""
    gc.collect()
    gc.freeze()


def collect_garbage() -> None:
    """Collect garbage, and return freed memory to the system."""
    gc.collect()
    give_back()


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


def end_with_parent() -> None:
    """End this process, started by `multiprocessing`, as soon as the one that started it ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:

        def wait() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()
