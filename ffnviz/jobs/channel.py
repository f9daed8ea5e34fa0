"""Messages between the pages' process and the one that computes."""

import pickle
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any

REPORT_EVERY_S = 0.1
CANCEL = "cancel"  # a message to the work under way


class Cancelled(BaseException):  # no error, and nothing that works on should catch it
    """Nobody waits for the work any more."""


class Channel:
    """A computation's connection to whoever ordered it; called with the share that is done."""

    def __init__(
        self, answers: IO[bytes], messages: SimpleQueue[Any], cancelled: threading.Event
    ) -> None:
        self._answers, self._messages, self._cancelled = answers, messages, cancelled
        self._last_sent = 0.0

    def __call__(self, share: float) -> None:
        """Report how much is done, from 0 to 1; raises Cancelled if nobody waits for it."""
        self._go_on()
        now = time.monotonic()
        if now - self._last_sent > REPORT_EVERY_S:
            self._last_sent = now
            send(self._answers, ("share", min(1.0, share)))

    def send(self, update: object) -> None:
        """Send an intermediate result; raises as a report does."""
        self._go_on()
        send(self._answers, ("update", update))

    def _go_on(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    def received(self) -> list[Any]:
        """The messages to this work since the last call."""
        return [self._messages.get() for _ in range(self._messages.qsize())]


def send(pipe: IO[bytes] | None, message: object) -> None:
    """Write one message into a pipe between two processes of ours."""
    assert pipe is not None  # noqa: S101
    pickle.dump(message, pipe)
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> Any:
    """Read one message from a pipe between two processes of ours; EOFError if it was closed."""
    assert pipe is not None  # noqa: S101
    return pickle.load(pipe)  # noqa: S301  # from our own process


def close(pipe: IO[bytes] | None) -> None:
    """Close a pipe between two processes of ours, of which one may be gone."""
    assert pipe is not None  # noqa: S101
    with suppress(OSError):  # what was not yet written to a process that is gone
        pipe.close()
