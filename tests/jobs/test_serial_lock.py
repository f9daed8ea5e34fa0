"""One heavy computation at a time, and the next also after one has failed."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ffnviz.jobs.run_queue import SERIAL_LOCK


def test_never_more_than_one_is_inside() -> None:
    inside: list[int] = []
    all_here = threading.Barrier(8)

    def visit(number: int) -> int:
        all_here.wait(60)
        with SERIAL_LOCK:
            inside.append(number)
            time.sleep(0.01)  # the others would come in now
            together = len(inside)
            inside.remove(number)
        return together

    with ThreadPoolExecutor(8) as visitors:
        assert set(visitors.map(visit, range(8))) == {1}


def fails() -> None:
    with SERIAL_LOCK:
        raise ValueError("out of memory")


def test_who_fails_inside_gives_the_place_back() -> None:
    with pytest.raises(ValueError, match="out of memory"):
        fails()
    assert not SERIAL_LOCK.locked()
