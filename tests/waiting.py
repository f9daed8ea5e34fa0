"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable

PATIENCE_S = 600  # a process that steps back for others takes long on a busy machine


def until(true: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Come back as soon as it is true; fail if it takes longer."""
    end = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
