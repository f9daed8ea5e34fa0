"""Heavy computations one after the other, in the order in which they were asked for.

Each takes seconds, and memory of its own. Side by side they would take no less time together, and
everybody who types would wait for all of them.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOK_EVERY_S = 0.2

Waiting = Callable[[int], None]


class SerialQueue:
    """Lets so many in at a time; the others wait in a queue."""

    def __init__(self, places: int = 1) -> None:
        self._places = places
        self._changed = threading.Condition()
        self._queue: list[object] = []  # those inside come first

    @contextmanager
    def passed(self, waiting: Waiting = lambda _: None) -> Iterator[None]:
        """`with gate.passed():` waits until it is one's turn, and gives the place back at the end.

        Args:
            waiting: told, again and again, how many others must finish first. Whoever raises an
                exception in there leaves the queue.
        """
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
        try:
            while others := self._before(ticket):
                waiting(others)
            yield
        finally:
            with self._changed:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def _before(self, ticket: object) -> int:
        """How many must leave before it is this ticket's turn; looked up after a short wait."""
        with self._changed:
            self._changed.wait_for(lambda: self._missing(ticket) == 0, LOOK_EVERY_S)
            return self._missing(ticket)

    def _missing(self, ticket: object) -> int:
        return max(0, self._queue.index(ticket) - self._places + 1)


HEAVY = SerialQueue()
heavy = HEAVY.passed  # `with heavy(waiting):` passes the one gate of this process
