"""Work for the pool's process, in a file of its own: it need not import pages and pytest."""

import os
import time
from collections.abc import Callable

from ffnviz.state.run import Run


def tokens(run: Run, progress: Callable[[float], None], n: int) -> tuple[int, list[str]]:
    progress(0.5)
    return n * len(run.labels), run.labels


def takes_a_moment(*_: object) -> str:
    time.sleep(0.2)
    return "done"


def waits_for_ever(run: Run, progress: Callable[[float], None]) -> None:
    del run
    while True:
        progress(0.25)
        time.sleep(0.01)


def computes_for_ever(_: object, progress: Callable[[float], None]) -> None:
    progress(0.25)
    while True:
        time.sleep(0.01)


def fails(*_: object) -> None:
    raise ValueError("the sentence is too odd")


def dies(*_: object) -> None:
    os._exit(3)


class Unreadable:
    """What can be sent by one process and not be read by another, for a reason of its own."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __reduce__(self) -> tuple[object, ...]:
        return throw, (self.error,)


def throw(error: type[Exception]) -> None:
    raise error("what was sent is of another version")


def answers_with(_: object, __: object, error: type[Exception]) -> Unreadable:
    return Unreadable(error)
