"""One training a core, however many processes the server has: more would slow each other."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ffnviz.models.config import config
from ffnviz.models.encoder.atomic import lock

LOOK_EVERY_S = 0.2


@contextmanager
def training_core(until: float) -> Iterator[None]:
    """Wait until fewer of this server's trainings run than there are cores.

    A training that dies gives its core back: its process holds the lock.

    Args:
        until: of the monotonic clock; whoever has waited so long trains beside the others.
    """
    folder, held = config().learned, None
    while folder is not None and (held := _free_core(folder)) is None and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _free_core(folder: Path) -> int | None:
    """The lock of the first core that nobody trains on; None if all are taken."""
    for core in range(os.cpu_count() or 1):
        file = folder / f".core-{core}"
        file.touch()
        try:
            return lock(file, wait=False)
        except OSError as error:
            if error.errno == errno.ENOLCK:  # no such locks here, where a server is one process
                return os.open(file, os.O_RDONLY)
    return None
